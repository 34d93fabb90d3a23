import { expect, it } from 'vitest';
import { sandboxToken } from '../../../src/commands/sandbox/token.ts';
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

it('the example of its help uses the token, in place of a session', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  for (const { command } of sandboxToken.examples ?? []) {
    const parts = /^((?:\w+=\w+ )*)CLOUDCTL_ACCESS_TOKEN=\$\(cloudctl (.+?)\) cloudctl (.+)$/.exec(command);
    const [, variables = '', print = '', use = ''] = parts ?? [];
    const { out } = await runCloudctl(host, print.split(' '));
    const named = Object.fromEntries(
      variables
        .trim()
        .split(' ')
        .map((one) => one.split('=')),
    );
    const ran = await runCloudctl(host, use.split(' '), { env: { ...named, CLOUDCTL_ACCESS_TOKEN: out.trim() } });
    expect(ran).toMatchObject({ code: 0, err: '' });
  }
  expect(sandboxToken.examples).toHaveLength(1);
});
