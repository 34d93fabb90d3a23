import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startedLine } from '../../../src/platform/keychain-wire.ts';
import { bin, node, type Ran, run, startProgram } from '../../fixtures/cli.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { type KeychainFixture, makeKeychainFixture, noKeyring, type StoredRecord, setUp } from './keychain-fixture.ts';

interface Bench {
  readonly fixture: KeychainFixture;
  /** Puts this text where the session of the current profile is; undefined takes it away. */
  store(text: string | undefined): Promise<void>;
  /** A record of a session the sandbox has just issued. */
  record(more?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  stored(): Promise<StoredRecord>;
}

interface Case {
  readonly name: string;
  readonly code: number;
  /** Made anew before each of the two runs. */
  prepare(bench: Bench): Promise<unknown>;
  readonly words?: readonly string[];
  readonly env?: Environment;
  /** After both runs. */
  tidy?(bench: Bench): void;
}

const minutes = (n: number): number => Math.floor(Date.now() / 1000) + n * 60;
const live = async (bench: Bench): Promise<void> => bench.store(JSON.stringify(await bench.record()));
const expiring =
  (left: number, more: object = {}) =>
  async (bench: Bench): Promise<void> =>
    bench.store(
      JSON.stringify(await bench.record({ expires_at: minutes(left), obtained_at: minutes(left - 60), ...more })),
    );
const configOf = ({ fixture }: Bench): string => join(fixture.folders.config, 'config.json');
const keepConfig = (bench: Bench): void => copyFileSync(configOf(bench), `${configOf(bench)}.kept`);
const giveBackConfig = (bench: Bench): void => {
  copyFileSync(`${configOf(bench)}.kept`, configOf(bench));
  rmSync(`${configOf(bench)}.kept`);
};

const cases: readonly Case[] = [
  { name: 'a live session', code: 0, prepare: live },
  { name: 'a live session, its profile named', code: 0, prepare: live, words: ['--profile', 'default'] },
  {
    name: 'a live session, its profile named by a variable',
    code: 0,
    prepare: live,
    env: { CLOUDCTL_PROFILE: 'default' },
  },
  { name: 'six minutes left', code: 0, prepare: expiring(6) },
  { name: 'four minutes left', code: 0, prepare: expiring(4) },
  { name: 'four minutes left and no refresh token', code: 0, prepare: expiring(4, { refresh_token: undefined }) },
  { name: 'an expired session', code: 0, prepare: expiring(-1) },
  { name: 'an expired session and no refresh token', code: 4, prepare: expiring(-1, { refresh_token: undefined }) },
  { name: 'no session', code: 4, prepare: (bench) => bench.store(undefined) },
  { name: 'a damaged record', code: 4, prepare: (bench) => bench.store('{"v":1,"sid":') },
  {
    name: 'a record of a newer version',
    code: 4,
    prepare: async (bench) => bench.store(JSON.stringify(await bench.record({ v: 2 }))),
  },
  {
    name: 'a session of another authorization server',
    code: 4,
    prepare: live,
    env: { CLOUDCTL_AUTH_URL: 'https://elsewhere.example' },
  },
  {
    name: 'a session of another resource API',
    code: 4,
    prepare: live,
    env: { CLOUDCTL_BASE_URL: 'https://elsewhere.example' },
  },
  { name: 'a session of another application', code: 4, prepare: live, env: { CLOUDCTL_CLIENT_ID: 'another' } },
  { name: 'an unknown profile', code: 2, prepare: live, words: ['--profile', 'nobody'] },
  { name: 'an unknown profile in the variable', code: 2, prepare: live, env: { CLOUDCTL_PROFILE: 'nobody' } },
  { name: 'an impossible profile name', code: 2, prepare: live, words: ['--profile', '../default'] },
  { name: 'no profile name', code: 2, prepare: live, words: ['--profile'] },
  { name: 'an empty profile name', code: 2, prepare: live, words: ['--profile', ''] },
  {
    name: 'a damaged config',
    code: 2,
    prepare: async (bench) => {
      keepConfig(bench);
      writeFileSync(configOf(bench), '{"current": "default",');
    },
    tidy: giveBackConfig,
  },
  {
    name: 'a config with a wrong value',
    code: 2,
    prepare: async (bench) => {
      keepConfig(bench);
      writeFileSync(configOf(bench), readFileSync(configOf(bench), 'utf8').replace('"code"', '17'));
    },
    tidy: giveBackConfig,
  },
  { name: 'CLOUDCTL_ACCESS_TOKEN', code: 0, prepare: live, env: { CLOUDCTL_ACCESS_TOKEN: 'given' } },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN that is no token',
    code: 2,
    prepare: live,
    env: { CLOUDCTL_ACCESS_TOKEN: 'two words' },
  },
  { name: 'CLOUDCTL_ACCESS_TOKEN set to nothing', code: 0, prepare: live, env: { CLOUDCTL_ACCESS_TOKEN: '' } },
  { name: 'CLOUDCTL_OUTPUT=json', code: 0, prepare: live, env: { CLOUDCTL_OUTPUT: 'json' } },
  {
    name: 'CLOUDCTL_OUTPUT=json and no session',
    code: 4,
    prepare: (bench) => bench.store(undefined),
    env: { CLOUDCTL_OUTPUT: 'json' },
  },
  { name: 'an unknown CLOUDCTL_OUTPUT', code: 2, prepare: live, env: { CLOUDCTL_OUTPUT: 'xml' } },
  { name: 'a bad CLOUDCTL_AUTH_URL', code: 2, prepare: live, env: { CLOUDCTL_AUTH_URL: 'http://elsewhere.example' } },
  { name: 'a bad CLOUDCTL_CREDENTIAL_STORE', code: 2, prepare: live, env: { CLOUDCTL_CREDENTIAL_STORE: 'drawer' } },
  { name: 'NODE_DEBUG, which prints requests', code: 0, prepare: live, env: { NODE_DEBUG: 'http' } },
];

for (const store of ['file', 'keychain'] as const) {
  describe.skipIf(noKeyring)(
    `auth token with the session in the ${store}: the fast path and the whole program say the same`,
    () => {
      let bench: Bench;
      beforeAll(async () => {
        bench = await makeBench(store);
      });
      afterAll(() => bench.fixture.close());

      test.for(cases)('$name: exit $code', async (one) => {
        const words = ['auth', 'token', ...(one.words ?? [])];
        const quick = await measured(bench, one, words);
        const whole = await measured(bench, one, ['--no-color', ...words]);
        expect(quick).toEqual(whole);
        expect(quick.code).toBe(one.code);
        expect(quick.stdout === '').toBe(one.code !== 0);
      });

      test('a live session is answered without the program, any other is not', async () => {
        const alone = join(bench.fixture.folders.work, 'alone');
        mkdirSync(alone, { recursive: true });
        for (const name of ['entry', 'token', 'secret-service'])
          copyFileSync(join(dirname(bin), `../dist/${name}.cjs`), join(alone, `${name}.cjs`));
        const quickly = (): Promise<Ran> =>
          startProgram(node, [join(alone, 'entry.cjs'), 'auth', 'token'], bench.fixture).ended;
        await live(bench);
        const { access_token } = await bench.stored();
        expect(await quickly()).toMatchObject({ code: 0, stdout: `${access_token}\n`, stderr: '' });
        await expiring(4)(bench);
        const ran = await quickly();
        expect(ran).toMatchObject({ code: 1, stdout: '' });
        expect(ran.stderr).toContain('MODULE_NOT_FOUND');
      });
    },
  );
}

/** One run, with the token it printed replaced by where it came from. */
async function measured(
  bench: Bench,
  one: Case,
  words: readonly string[],
): Promise<Pick<Ran, 'code' | 'stdout' | 'stderr'>> {
  await one.prepare(bench);
  try {
    const { code, stdout, stderr } = await bench.fixture.run(words, { env: one.env ?? {} });
    const current = await bench.stored().catch(() => undefined);
    const known = current?.access_token ?? 'no token is stored';
    expect(stderr).not.toContain(known);
    return { code, stdout: stdout.replaceAll(known, `[token of generation ${current?.gen}]`), stderr };
  } finally {
    one.tidy?.(bench);
  }
}

async function makeBench(store: 'file' | 'keychain'): Promise<Bench> {
  const fixture = await makeKeychainFixture();
  expect((await setUp(fixture, ['--credential-store', store])).code).toBe(0);
  expect((await fixture.logIn()).code).toBe(0);
  const { stdout } = await fixture.run(['auth', 'status', '--query', 'store_place']);
  const place = stdout.trim();
  const shelf = store === 'file' ? file(place) : item(fixture, /account (\S+)$/.exec(place)?.[1] ?? '');
  const template: Readonly<Record<string, unknown>> = JSON.parse(await shelf.read());
  // From here on the profile alone says where the sandbox is, as for a person.
  const env = { DBUS_SESSION_BUS_ADDRESS: fixture.env.DBUS_SESSION_BUS_ADDRESS };
  return {
    fixture: {
      ...fixture,
      env,
      run: (words, more) => run(words, { folders: fixture.folders, env: { ...env, ...more?.env } }),
    },
    store: shelf.write,
    stored: async () => JSON.parse(await shelf.read()),
    record: async (more = {}) => {
      const issued = await fixture.sandbox.admin('POST', '/_sandbox/tokens', { user: 'maya@example.com' });
      const { access_token, refresh_token } = Object(issued.body);
      return { ...template, access_token, refresh_token, gen: 1, expires_at: minutes(60), ...more };
    },
  };
}

interface Shelf {
  read(): Promise<string>;
  write(text: string | undefined): Promise<void>;
}

function file(path: string): Shelf {
  return {
    read: async () => readFileSync(path, 'utf8'),
    write: async (text) =>
      text === undefined ? rmSync(path, { force: true }) : writeFileSync(path, text, { mode: 0o600 }),
  };
}

/** Written by the helper process of the program, since only it knows every attribute of an item. */
function item(fixture: KeychainFixture, account: string): Shelf {
  return {
    read: async () => (await fixture.items()).get(account) ?? '',
    write: async (value) => {
      const request = value === undefined ? { operation: 'remove', account } : { operation: 'write', account, value };
      const helper = startProgram(node, [join(dirname(bin), '../dist/keychain.cjs')], fixture);
      helper.child.stdin?.end(`${JSON.stringify(request)}\n`);
      expect((await helper.ended).stdout).toBe(`${startedLine}\n{"kind":"done"}\n`);
    },
  };
}
