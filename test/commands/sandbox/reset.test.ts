import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox reset ends every session of it', async () => {
  const host = testHost();
  const { ready } = await startSandboxCommand(host);
  const { out } = await runCloudctl(host, ['sandbox', 'token', '--user', 'maya@example.com']);
  expect(await runCloudctl(host, ['sandbox', 'reset'])).toMatchObject({ code: 0, out: '' });
  const env = { CLOUDCTL_ACCESS_TOKEN: out.trim(), CLOUDCTL_BASE_URL: ready.base_url ?? '' };
  expect((await runCloudctl(host, ['actions', 'list'], { env })).code).toBe(4);
});
