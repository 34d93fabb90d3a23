import { describe, expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type LoginFixture, useLoginFixture } from './login-fixture.ts';
import type { Machine } from './machine.ts';

const create = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'ams3'];

/** Commands of a session in the order in which one can be given after the other, with what their data is. */
const commands: readonly { readonly words: readonly string[]; readonly data: RegExp; readonly code?: number }[] = [
  { words: ['auth', 'status'], data: /maya@example\.com/ },
  { words: ['auth', 'list'], data: /sandbox/ },
  { words: ['auth', 'refresh'], data: /maya@example\.com/ },
  { words: ['actions', 'list'], data: /create/ },
  { words: ['droplets', 'list'], data: /ams3|nyc3|fra1/ },
  { words: ['droplets', 'create', 'web-1', 'web-2', '--if-exists', 'create', ...create], data: /web-1[\s\S]*web-2/ },
  { words: ['api', 'GET', '/v2/droplets'], data: /"droplets"/ },
  { words: ['config', 'list'], data: /auth_url/ },
  { words: ['config', 'path'], data: /config/ },
  { words: ['completion', 'bash'], data: /cloudctl/ },
  { words: ['sandbox', 'clock'], data: /^"?\d{4}-|"now"/ },
  { words: ['sandbox', 'requests'], data: /\/v1\/oauth\/token/ },
  { words: ['--version'], data: /^\d+\.\d+\.\d+/ },
  { words: ['--help'], data: /auth/ },
  { words: ['droplets', 'list', '--no-such-option'], data: /^$/, code: 2 },
  { words: ['auth', 'logout'], data: /^$/ },
  { words: ['droplets', 'list'], data: /^$/, code: 4 },
];

/** Text in every format. */
const plain = ['config path', 'completion bash', '--version', '--help'];

/** What is said to a person and is nobody's data. */
const talk = /Logged|Waiting|warning:|error:|hint:|The session|sign in at|kept in/;

describe.skipIf(lacks('chromium'))('every command', () => {
  const fixture = useLoginFixture();

  test('as a table: standard output holds data alone, standard error none of it', async () => {
    const machine = await loggedIn(fixture(), []);
    for (const { words, data, code = 0 } of commands) {
      const ran = await machine.run(words);
      expect({ words, code: ran.code }).toEqual({ words, code });
      expect(ran.stdout).toMatch(data);
      expect(ran.stdout).not.toMatch(talk);
      holdsNoData(ran);
    }
  });

  test('as json: standard output is one JSON value or nothing, standard error is no JSON but an error', async () => {
    const machine = await loggedIn(fixture(), ['-o', 'json']);
    for (const { words, data, code = 0 } of commands.filter(({ words }) => !plain.includes(words.join(' ')))) {
      const ran = await machine.run([...words, '-o', 'json']);
      expect({ words, code: ran.code }).toEqual({ words, code });
      expect(ran.stdout).toMatch(data);
      if (ran.stdout !== '') expect(() => ran.json(), words.join(' ')).not.toThrow();
      expect(ran.stdout).not.toMatch(talk);
      holdsNoData(ran);
      if (code !== 0) expect(JSON.parse(ran.stderr)).toMatchObject({ error: { exit_code: code } });
    }
  });
});

async function loggedIn(fixture: LoginFixture, words: readonly string[]): Promise<Machine> {
  const machine = fixture.machine({ folders: fixture.folders, env: { CLOUDCTL_PROFILE: 'sandbox' } });
  const visitor = await fixture.visitor();
  const login = await machine.login(['--scope', 'read write', ...words]);
  await visitor.logIn(login.authorizationUrl, fixture.maya);
  const ran = await login.ended;
  expect(ran.code).toBe(0);
  if (words.length === 0) expect(ran.stdout).toBe('');
  else expect(ran.json()).toMatchObject({ email: fixture.maya.email });
  expect(ran.stderr).toMatch(/^Waiting\b[\s\S]*^Logged in\b/m);
  return machine;
}

/** Names of droplets, of fields and of columns are data. */
function holdsNoData({ stderr }: Ran): void {
  expect(stderr).not.toMatch(/web-\d|created_at|PublicIPv4|"id"|"droplets"|"profile"/);
}
