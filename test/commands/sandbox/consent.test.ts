import { describe, expect, it } from 'vitest';
import { start } from '../../../src/commands/sandbox/start.ts';
import { token } from '../../../src/commands/sandbox/token.ts';
import { testHost } from '../../fixtures/host.ts';
import { cloudctl, login } from '../ground.ts';
import { started } from './ground.ts';

describe('a consent script', () => {
  it('takes a team whose name has blanks', async () => {
    const host = testHost();
    await started(host, ['--consent', '  approve  tomas@example.com Harbour Works ']);
    const ran = await login(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'tomas@example.com', team_name: 'Harbour Works' });
  });

  it('of the start is in force after a reset', async () => {
    const host = testHost();
    await started(host, ['--consent', 'approve maya@example.com']);
    expect(await cloudctl(host, ['sandbox', 'reset'])).toMatchObject({ code: 0 });
    const ran = await login(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'maya@example.com' });
  });

  it('of somebody unknown says so in the words of the sandbox', async () => {
    const ran = await cloudctl(testHost(), ['sandbox', 'start', '--consent', 'approve ada@example.com', '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'usage', detail: expect.stringContaining('person of this sandbox') });
  });

  it('and a token: whoever the examples of the help name is somebody every sandbox knows', async () => {
    const { ready } = await started(testHost());
    const known = ready.users.map(({ email }) => email);
    const named = [start, token].flatMap(({ examples = [] }) =>
      examples.flatMap(({ command }) => command.match(/[\w.]+@[\w.]+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(known).toEqual(expect.arrayContaining(named));
  });
});
