import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox env prints an environment that a shell takes and that works', async () => {
  const host = testHost();
  const { ready } = await startSandboxCommand(host);
  const { out } = await runCloudctl(host, ['sandbox', 'env']);
  const env = Object.fromEntries(
    [...out.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  expect(env).toMatchObject({
    CLOUDCTL_AUTH_URL: ready.auth_url,
    CLOUDCTL_CLIENT_SECRET: ready.client_secret,
    CLOUDCTL_SANDBOX_ADMIN_TOKEN: ready.admin_token,
  });
  const elsewhere = testHost({ env });
  expect((await runCloudctl(elsewhere, ['sandbox', 'clock'])).code).toBe(0);
  await runCloudctl(elsewhere, ['sandbox', 'reset']);
});
