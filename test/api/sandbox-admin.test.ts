import { describe, expect, it } from 'vitest';
import { adminClient } from '../../src/api/sandbox-admin.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { sandboxFor } from '../sandbox/requests.ts';

async function adminOf(url: string, token = 'admin-token') {
  return adminClient(await undiciSender({ env: {} }), url, token);
}

describe('the admin API of a sandbox', () => {
  it('answers who brings its token', async () => {
    const { ready } = await sandboxFor();
    const admin = await adminOf(ready.admin_url, ready.admin_token);
    expect(await admin.call('POST', '/clock', { freeze: true })).toMatchObject({ frozen: true });
    expect(await admin.call('GET', '/clock')).toMatchObject({ frozen: true });
    expect(await admin.call('DELETE', '/requests')).toBeUndefined();
  });

  it('refuses who brings another, with the way to set it', async () => {
    const { ready } = await sandboxFor();
    await expect((await adminOf(ready.admin_url, 'wrong')).call('GET', '/clock')).rejects.toMatchObject({
      code: 'api_error',
      hint: expect.stringContaining('CLOUDCTL_SANDBOX_ADMIN_TOKEN'),
    });
  });

  it('says what was wrong with a request', async () => {
    const { ready } = await sandboxFor();
    const admin = await adminOf(ready.admin_url, ready.admin_token);
    await expect(admin.call('POST', '/clock', { advance: 'soon' })).rejects.toMatchObject({
      status: 422,
      detail: expect.stringContaining('advance'),
    });
  });

  it('sends the token in its header alone', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    await (await adminOf(origin)).call('POST', '/tokens', { user: 'a' });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/_sandbox/tokens', body: '{"user":"a"}' });
    expect(seen[0]?.headers['x-admin-token']).toBe('admin-token');
  });

  it.each<[string, RequestHandler, object]>([
    ['a page', (_, response) => reply(response, 200, '<html>'), { code: 'api_error', message: /JSON/ }],
    ['a redirect', (_, response) => reply(response, 302, '', { location: '/' }), { code: 'api_error', status: 302 }],
    ['a cut connection', (_, response) => void response.destroy(), { code: 'unreachable', exitCode: 6 }],
  ])('that answers with %s is an error', async (_what, answerer, expected) => {
    const { origin } = await serverFor(answerer);
    const failure = await (await adminOf(origin)).call('GET', '/clock').catch((error: unknown) => error);
    expect(failure).toMatchObject(
      Object.fromEntries(
        Object.entries(expected).map(([key, value]) => [
          key,
          value instanceof RegExp ? expect.stringMatching(value) : value,
        ]),
      ),
    );
  });

  it('that has ended is unreachable', async () => {
    await expect((await adminOf(await closedOrigin())).call('GET', '/clock')).rejects.toMatchObject({
      code: 'unreachable',
      exitCode: 6,
      hint: expect.stringContaining('`cloudctl sandbox start`'),
    });
  });
});
