import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox requests lists what was asked, without secrets, and forgets it', async () => {
  const host = testHost();
  const { ready } = await startSandboxCommand(host);
  const token = await runCloudctl(host, ['sandbox', 'token', '--user', 'maya@example.com', '--scope', 'read write']);
  expect(token.out).toMatch(/^\S+\n$/);
  const env = { CLOUDCTL_ACCESS_TOKEN: token.out.trim(), CLOUDCTL_BASE_URL: ready.base_url ?? '' };
  expect((await runCloudctl(host, ['actions', 'list', '-o', 'json'], { env })).code).toBe(0);
  const requests = await runCloudctl(host, [
    'sandbox',
    'requests',
    '--endpoint',
    'GET /v2/actions',
    '--wait',
    '1',
    '-o',
    'json',
  ]);
  expect(requests.json()).toMatchObject([
    { method: 'GET', path: '/v2/actions', status: 200, token_hint: token.out.trim().slice(-4) },
  ]);
  expect(requests.out).not.toContain(token.out.trim());
  expect(await runCloudctl(host, ['sandbox', 'requests', '--clear'])).toMatchObject({ code: 0, out: '' });
  expect((await runCloudctl(host, ['sandbox', 'requests', '--endpoint', 'GET /v2/actions', '-o', 'json'])).out).toBe(
    '[]\n',
  );
  const grant = await runCloudctl(host, ['sandbox', 'token', '--user', 'maya@example.com', '-o', 'json']);
  expect(grant.json()).toMatchObject({
    token_type: expect.stringMatching(/^bearer$/i),
    scope: 'read',
    refresh_token: expect.any(String),
  });
});
