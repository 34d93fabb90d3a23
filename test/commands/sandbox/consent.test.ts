import { describe, expect, it } from 'vitest';
import { sandboxStartCommand } from '../../../src/commands/sandbox/start.ts';
import { sandboxTokenCommand } from '../../../src/commands/sandbox/token.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, runLogin, stableText } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

describe('a consent script', () => {
  it('takes a team whose name has blanks', async () => {
    const host = testHost();
    await startSandboxCommand(host, ['--consent', '  approve  tomas@example.com Harbour Works ']);
    const ran = await runLogin(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'tomas@example.com', team_name: 'Harbour Works' });
  });

  it('of the start is in force after a reset', async () => {
    const host = testHost();
    await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    expect(await runCloudctl(host, ['sandbox', 'reset'])).toMatchObject({ code: 0 });
    const ran = await runLogin(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'maya@example.com' });
  });

  it('of an unknown user is a usage error with the reason of the sandbox', async () => {
    const ran = await runCloudctl(testHost(), [
      'sandbox',
      'start',
      '--consent',
      'approve ada@example.com',
      '-o',
      'json',
    ]);
    expect(ran.error()).toMatchObject({ code: 'usage', exit_code: 2 });
    expectGolden('sandbox', stableText(ran));
  });

  it('and a token: whoever the examples of the help name is somebody every sandbox knows', async () => {
    const { ready } = await startSandboxCommand(testHost());
    const known = ready.users.map(({ email }) => email);
    const named = [sandboxStartCommand, sandboxTokenCommand].flatMap(({ examples = [] }) =>
      examples.flatMap(({ command }) => command.match(/[\w.]+@[\w.]+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(known).toEqual(expect.arrayContaining(named));
  });
});
