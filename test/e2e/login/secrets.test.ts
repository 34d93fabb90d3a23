import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';

describe.skipIf(lacks('chromium'))('what the program prints', () => {
  const fixture = useLoginFixture();

  test.each(['code', 'implicit'])(
    'holds no code, no token and no client secret, with --trace and every output (%s flow)',
    async (flow) => {
      const { maya, secrets, sandbox, ...here } = fixture();
      const machine = here.machine();
      const visitor = await here.visitor();
      const login = await machine.login(['--flow', flow, '--trace', '-o', 'json']);
      await visitor.logIn(login.authorizationUrl, maya);
      await visitor.told();
      const printed = [await login.ended];
      const tokens = [await machine.accessToken()];
      const words = [
        ['auth', 'status', '--check'],
        ['auth', 'list'],
        ['actions', 'list'],
        ['droplets', 'create', 'web-1', '--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--if-exists', 'create'],
        ['api', 'GET', '/v2/droplets'],
        ['config', 'list'],
        ...(flow === 'code' ? [['auth', 'refresh']] : []),
        ['sandbox', 'requests'],
      ];
      for (const command of words)
        for (const output of ['json', 'table']) printed.push(await machine.run([...command, '--trace', '-o', output]));
      for (const output of ['yaml', 'csv', 'ndjson'])
        printed.push(await machine.run(['auth', 'status', '--check', '--trace', '-o', output]));
      tokens.push(await machine.accessToken());
      printed.push(await machine.run(['auth', 'logout', '--trace', '-o', 'json']));
      printed.push(await machine.run(['auth', 'status', '--trace', '-o', 'json']));

      const text = printed.map(({ stdout, stderr }) => stdout + stderr).join('\n');
      // The search itself can find: the ledger knows the code and both tokens, and the trace was really on.
      expect(tokens.every((token) => secrets.foundIn(`x${token}x`).length === 1)).toBe(true);
      expect(new Set(tokens).size).toBe(flow === 'code' ? 2 : 1);
      expect(visitor.redirects.flatMap((redirect) => secrets.foundIn(redirect))).not.toEqual([]);
      const traced = [
        /^GET \S+\/v2\/actions\?\S+ 200/m,
        /^POST \S+\/v1\/oauth\/revoke\?token 200/m,
        ...(flow === 'code' ? [/^POST \S+\/v1\/oauth\/token\?\S*\bcode&\S+ 200/m] : []),
      ];
      expect(traced.filter((line) => !line.test(text))).toEqual([]);
      expect(secrets.foundIn(text)).toEqual([]);
      const challenge = new URL(login.authorizationUrl).searchParams.get('code_challenge');
      const words43 = text.match(/(?<![\w-])[\w-]{43}(?![\w-])/g) ?? [];
      expect(words43.filter((word) => sha256(word) === challenge)).toEqual([]);
    },
  );

  test('nor is any in the arguments of the program or in its files for settings', async () => {
    const { maya, secrets, folders, ...here } = fixture();
    const machine = here.machine({ folders, env: {} });
    const visitor = await here.visitor();
    const login = await machine.login(['--profile', 'sandbox']);
    expect(secrets.foundIn(readFileSync(`/proc/${login.pid}/cmdline`, 'utf8'))).toEqual([]);
    await visitor.logIn(login.authorizationUrl, maya);
    await visitor.told();
    await login.ended;
    expect(secrets.foundIn(readFileSync(`${folders.config}/config.json`, 'utf8'))).toEqual([]);
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
