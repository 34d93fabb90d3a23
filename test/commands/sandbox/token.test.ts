import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, stableText } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox token prints the reason of a refusal', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const ran = await runCloudctl(host, ['sandbox', 'token', '--user', 'nobody', '-o', 'json']);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expect(ran.error()).toMatchObject({ code: 'api_error', status: 422 });
  expectGolden('sandbox', stableText(ran));
});

it('sandbox token prints the access token alone, and the grant with json', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const words = ['sandbox', 'token', '--user', 'maya@example.com', '--scope', 'read write'];
  expect(await runCloudctl(host, words)).toMatchObject({ code: 0, out: expect.stringMatching(/^[\x21-\x7e]+\n$/) });
  const grant = await runCloudctl(host, [...words, '-o', 'json']);
  expect(grant.code).toBe(0);
  expect(grant.json()).toMatchObject({ scope: 'read write', expires_in: 2_592_000 });
});
