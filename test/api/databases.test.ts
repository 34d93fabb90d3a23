import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/client.ts';
import { startOnlineMigration } from '../../src/api/databases.ts';
import { CliError } from '../../src/errors.ts';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import { Secret } from '../../src/secret.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { testClock } from '../fixtures/host.ts';
import { sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { workLoginHints } from './login-hints.ts';

async function apiOf(baseOrigin: string, token = 'x') {
  return createApi({
    baseOrigin,
    send: await createUndiciSender({ env: {} }),
    bearer: async () => new Secret(token),
    renew: () => Promise.reject(new CliError('needs_login', 'ended')),
    clock: testClock(),
    timeout: 2_000,
    loginHints: workLoginHints,
  });
}

const source = { host: 'db.example.com', port: 5432, dbname: 'app', username: 'u', password: new Secret('hunter2') };

describe('an online migration', () => {
  it('is started in the sandbox and is running', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    const cluster = sandbox.ready.clusters.find(({ engine }) => engine === 'postgresql')?.uuid ?? '';
    const started = await startOnlineMigration(await apiOf(sandbox.ready.base_url, token), cluster, { source });
    expect(started).toMatchObject({ status: 'running', id: expect.any(String) });
    expect(Date.parse(started.createdAt)).not.toBeNaN();
  });

  it.each([
    [{ source }, { source: { ...source, password: 'hunter2' } }],
    [{ source: { host: 'h' } }, { source: { host: 'h' } }],
    [
      { source: { host: 'h' }, disableSsl: false, ignoreDbs: [] },
      { source: { host: 'h' }, disable_ssl: false, ignore_dbs: [] },
    ],
  ])('sends what is set and nothing else: %#', async (request, body) => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, { id: '1', status: 'running' }));
    await startOnlineMigration(await apiOf(origin), 'uuid-1', request);
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/v2/databases/uuid-1/online-migration' });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
  });

  it('into a cluster that is not there is told from a session that has ended', async () => {
    const { origin, seen } = await serverFor(({ url }, response) =>
      url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : reply(response, 404, { id: 'not_found' }),
    );
    await expect(startOnlineMigration(await apiOf(origin), 'uuid-1', { source })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(seen.map(({ method }) => method)).toEqual(['PUT', 'GET']);
    const ended = await serverFor((_, response) => reply(response, 404, { id: 'not_found' }));
    await expect(startOnlineMigration(await apiOf(ended.origin), 'uuid-1', { source })).rejects.toMatchObject({
      code: 'needs_login',
    });
  });

  it.each<[string, RequestHandler, object]>([
    ['that is not understood', (_, response) => reply(response, 200, {}), { code: 'api_error' }],
    ['without a body', (_, response) => reply(response, 200), { code: 'api_error' }],
    ['of a small scope', (_, response) => reply(response, 403, { id: 'forbidden' }), { code: 'scope_too_small' }],
    ['that was dropped', (_, response) => void response.destroy(), { code: 'unreachable' }],
  ])('with an answer %s is an error after one request, without the password', async (_what, answerer, expected) => {
    const { origin, seen } = await serverFor(answerer);
    const failure = await startOnlineMigration(await apiOf(origin), 'uuid-1', { source }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    expect(seen).toHaveLength(1);
  });
});
