import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  encodeShareEncryptionKeys,
  generateShareEncryptionKeys,
} from '../../src/shared-store/share-encryption-keys.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type HostileBehavior, hostileBehaviors, startHostileServer } from '../fixtures/hostile-postgres.ts';
import { hostileRedisBehaviors } from '../fixtures/hostile-redis.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { hostileText } from './bad-bytes.ts';
import { endsWell, type MeasuredRun, measuredRun } from './measured-run.ts';

/** The commands of a shared session against whoever can write to its store, or answers in its place. */
const password = 'S3cret-of-the-member';
const keys = encodeShareEncryptionKeys(generateShareEncryptionKeys(randomBytes)).reveal();

let folders: Folders;
beforeAll(() => {
  folders = makeFolders();
  const profile = {
    auth_url: 'http://127.0.0.1:8999',
    base_url: 'http://127.0.0.1:8999',
    client_id: '0'.repeat(32),
    callback_urls: ['http://localhost:8998/callback'],
    credential_store: 'shared',
  };
  mkdirSync(folders.config, { recursive: true });
  writeFileSync(
    join(folders.config, 'config.json'),
    JSON.stringify({ profile: 'default', profiles: { default: profile } }),
  );
});
afterAll(() => folders?.remove());

const useStore = (url: string, words: string): Promise<MeasuredRun> =>
  measuredRun(words.split(' '), {
    folders,
    env: { CLOUDCTL_STORE_URL: url, CLOUDCTL_STORE_KEY: keys },
    limit: 60_000,
  });

/** 3 s twice for the connection, 5 s twice for the statement, 1 s to end a session, and the start on a busy machine. */
const limit = 30;

describe.each([
  ['PostgreSQL', hostileBehaviors, (port: number) => `postgres://ci:${password}@127.0.0.1:${port}/fleet`],
  ['Redis', hostileRedisBehaviors, (port: number) => `redis://ci:${password}@127.0.0.1:${port}/0`],
] as const)('a server in place of %s', (_engine, behaviors, urlOf) => {
  const silent: HostileBehavior = () => {};
  it.concurrent.each(Object.entries({ ...behaviors, 'never answers': silent }))('that %s', async (_name, behavior) => {
    const hostile = await startHostileServer(behavior);
    const ran = await useStore(urlOf(hostile.port), 'auth share status -o json');
    hostile.stop();
    endsWell(ran, { words: [], limit }, password);
    expect(ran.code, ran.stderr).toBe(6);
  });
});

const row = (changes: object) => ({
  applied: true,
  now_ms: 1_790_000_000_000,
  session: { epoch: 1, sid: 'aa', gen: 1, kid: '00000000', active_kid: '00000000', record: 'AAAA', ...changes },
});
const sql = (value: object): string => `'${JSON.stringify(value).replaceAll("'", "''").replaceAll('\\u0000', '')}'`;
const asRow = (changes: object): string => sql(row(changes));

/** What a store returns, as an SQL expression, and whether the reply can be used. */
const replies: Readonly<Record<string, readonly [expression: string, code: number]>> = {
  'control characters in the names of machines': [
    asRow({
      holder: hostileText,
      lease_ms: 9_999_999_999_999,
      intent_gen: 1,
      intent_by: hostileText,
      previous_by: hostileText,
    }),
    0,
  ],
  'a name of 3 MB': [
    `replace(${asRow({ holder: 'x', lease_ms: 9_999_999_999_999 })}, '"x"', '"' || repeat('x', 3000000) || '"')`,
    0,
  ],
  'a record of 12 MB': [`replace(${asRow({})}, 'AAAA', repeat('A', 12000000))`, 0],
  'a record of 200 MB': [`replace(${asRow({})}, 'AAAA', repeat('A', 200000000))`, 6],
  'a hundred thousand nested lists': [`repeat('[', 100000) || repeat(']', 100000)`, 6],
  'a time after the year 9999': [sql({ ...row({}), now_ms: 9_007_199_254_740_991 }), 6],
  'a generation beyond all numbers': [`replace(${asRow({})}, '"gen":1', '"gen":1e400')`, 6],
  'names of the prototype': [`replace(${asRow({})}, '"gen":1', '"__proto__":{"gen":1},"constructor":1')`, 6],
  'a key id with control characters': [asRow({ kid: hostileText }), 6],
  'no text': ['NULL', 6],
  'an error with control characters': [`(SELECT cloudctl_share.fail())`, 6],
  'nothing for a minute': [`(SELECT pg_sleep(60))::text`, 6],
};

describe('a PostgreSQL server that returns', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres({ direct: true, settings: { max_connections: 60 } });
    await server.query(`CREATE ROLE ci LOGIN PASSWORD '${password}'`);
    for (const [at, [expression]] of Object.values(replies).entries()) {
      await server.query(`CREATE DATABASE reply${at}`);
      const message = hostileText.replaceAll("'", "''");
      for (const statement of [
        'CREATE SCHEMA cloudctl_share',
        'GRANT USAGE ON SCHEMA cloudctl_share TO ci',
        `CREATE FUNCTION cloudctl_share.fail() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION '%', '${message}'; END $f$`,
        `CREATE FUNCTION cloudctl_share.read_session(text, text) RETURNS text LANGUAGE sql AS $f$ SELECT ${expression} $f$`,
        `CREATE FUNCTION cloudctl_share.read_log(text, text, integer) RETURNS text LANGUAGE sql AS $f$ SELECT ${expression} $f$`,
      ])
        await server.query(statement, `reply${at}`);
    }
  });
  afterAll(() => server?.stop());

  it.concurrent.each(Object.keys(replies))('%s', async (name) => {
    const at = Object.keys(replies).indexOf(name);
    const [, code] = replies[name] ?? ['', 0];
    const url = `postgres://ci:${password}@127.0.0.1:${server.port}/reply${at}`;
    for (const words of ['auth share status', 'auth share status -o json', 'auth share log', 'auth token']) {
      const ran = await useStore(url, words);
      expect(ran.stdout.length + ran.stderr.length).toBeLessThan(20_000);
      if (words.startsWith('auth share status'))
        expect([words, ran.code, ran.stderr]).toEqual([words, code, expect.any(String)]);
      else expect([1, 4, 6], ran.stderr).toContain(ran.code);
      if (ran.code !== 4) endsWell(ran, { words: [], limit }, password);
    }
  });
});
