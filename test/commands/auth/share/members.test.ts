import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildShareSchemaSql } from '../../../../src/shared-store/postgresql-schema.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { startPgbouncer } from '../../../fixtures/pgbouncer.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { runPsql } from '../../../fixtures/psql.ts';
import { type RedisProgram, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { type ShareMachines, shareMachines } from './share-fixture.ts';

/** The rights of members, granted with the statements of the guide by the real psql and redis-cli. */
const guide = readFileSync(new URL('../../../../docs/guides/fleet.md', import.meta.url), 'utf8');

function fileInGuide(name: string): string {
  const [, , text] = new RegExp(`cat > ${name} <<'(\\w+)'\\n([\\s\\S]*?)\\n\\1\\n`).exec(guide) ?? [];
  if (text === undefined) throw new Error(`the guide has no file ${name}`);
  return text;
}

/** All that a fleet does, as members, after an owner has created the share. */
async function useShare(fixture: ShareMachines, ownerUrl: string): Promise<void> {
  const first = await fixture.first(ownerUrl);
  await fixture.login(first, 60);
  const second = fixture.machine('ci-2');
  const done = async (host: typeof first, words: string, stdin?: string) => {
    const ran = await runCloudctl(host, words.split(' '), stdin === undefined ? {} : { stdin });
    expect({ words, code: ran.code, error: ran.code === 0 ? '' : ran.err }).toEqual({ words, code: 0, error: '' });
    return ran;
  };
  await done(second, 'auth share join', fixture.keysOf(first));
  const token = (await done(second, 'auth token')).out;
  expect((await done(first, 'auth token')).out).toBe(token);
  await done(first, 'auth refresh');
  await done(first, 'auth share rotate-key');
  await done(first, 'auth share rotate-key --activate');
  await done(second, 'auth share join', fixture.keysOf(first));
  await done(second, 'auth refresh');
  expect((await done(second, 'auth share status -o json')).json()).toMatchObject({ generation: 4, copy: 'same' });
  await done(first, 'auth logout');
  const log = (await done(second, 'auth share log -o json')).json<readonly { readonly event: string }[]>();
  expect(log.map(({ event }) => event)).toEqual([
    'logout',
    ...['refresh', 'claim'],
    'rotate',
    ...['refresh', 'claim', 'refresh', 'claim'],
    'login',
  ]);
}

describe.skipIf(lacks('psql'))('a member in PostgreSQL', () => {
  const password = 'a long random password';
  let server: Postgres;
  const urlOf = (port: number) => `postgres://ci:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  const ownerUrl = () => `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres`;
  const asMember = (sql: string) => runPsql({ ...server, password }, sql, { username: 'ci' });
  beforeAll(async () => {
    server = await startPostgres();
    expect(runPsql(server, buildShareSchemaSql())).toMatchObject({ code: 0 });
    expect(runPsql(server, fileInGuide('members.sql'))).toMatchObject({ code: 0, stderr: '' });
  });
  afterAll(() => server?.stop());

  it('can do all that a fleet does', async () => {
    await useShare(await shareMachines(urlOf(server.port)), ownerUrl());
  });

  it.skipIf(lacks('pgbouncer'))('also through pgbouncer in transaction mode, with one connection', async () => {
    const pooler = await startPgbouncer({
      server: { port: server.ownPort, password: server.password },
      users: { ci: password },
    });
    await useShare(await shareMachines(urlOf(pooler.port)), ownerUrl());
    const direct = await runCloudctl(
      (await shareMachines(urlOf(pooler.port))).machine('ci-1'),
      ['auth', 'share', 'init'],
      {
        env: { CLOUDCTL_STORE_URL: `postgres://postgres:${server.password}@127.0.0.1:${pooler.port}/postgres` },
      },
    );
    expect([direct.code, direct.err]).toEqual([6, expect.stringContaining('connection pooler')]);
  });

  it('has the timeouts of the guide', () => {
    const { stdout } = asMember('SHOW statement_timeout; SHOW idle_in_transaction_session_timeout;');
    expect(stdout.match(/10s/g)).toHaveLength(2);
  });

  it.each([
    'SELECT * FROM cloudctl_share.session',
    'SELECT * FROM cloudctl_share.log',
    'SELECT * FROM cloudctl_share.meta',
    'COPY cloudctl_share.session TO STDOUT',
    "INSERT INTO cloudctl_share.log (share, profile, at_ms, event, by, epoch, gen) VALUES ('s', 'p', 1, 'login', 'me', 1, 1)",
    'UPDATE cloudctl_share.session SET gen = 1',
    "UPDATE cloudctl_share.log SET by = 'nobody'",
    'DELETE FROM cloudctl_share.log',
    'TRUNCATE cloudctl_share.log',
    'DROP TABLE cloudctl_share.session',
    'ALTER TABLE cloudctl_share.session DISABLE TRIGGER ALL',
    'BEGIN; LOCK TABLE cloudctl_share.session IN ACCESS SHARE MODE',
    'CREATE TABLE cloudctl_share.mine (id int)',
    "CREATE OR REPLACE FUNCTION cloudctl_share.schema_version() RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
    "SELECT cloudctl_share.snapshot('s', 'p', true)",
    'SELECT cloudctl_share.now_ms()',
    'SET ROLE postgres',
    'CREATE ROLE other IN ROLE cloudctl_share_member',
  ])('may not: %s', (sql) => {
    expect(asMember(sql)).toMatchObject({ code: 3, stderr: expect.stringMatching(/permission denied|must be owner/) });
  });

  it('cannot lower a generation, an epoch, or replace a record of the same version by another session', async () => {
    const rows = () => server.query("SELECT * FROM cloudctl_share.session WHERE share = 'own'");
    const log = async () => (await server.query("SELECT * FROM cloudctl_share.log WHERE share = 'own'")).length;
    const commit = (epoch: number, sid: string, gen: number) =>
      asMember(
        `SELECT cloudctl_share.commit_session('own', 'p', ${epoch}, '${sid}', ${gen}, 'k', 'r${gen}', 'me', 'refresh')`,
      );
    expect(commit(5, 'aa', 3).stdout).toContain('"applied" : true');
    const [before, entries] = [await rows(), await log()];
    for (const [epoch, sid, gen] of [
      [5, 'aa', 2],
      [4, 'aa', 9],
      [5, 'bb', 4],
    ] as const)
      expect(commit(epoch, sid, gen).stdout).toContain('"applied" : false');
    const reseal = "SELECT cloudctl_share.reseal_session('own', 'p', 5, 'aa', 2, 'k', 'k2', 'old', 'me')";
    expect(asMember(reseal).stdout).toContain('"applied" : false');
    // What a member creates for itself does not change what the functions use.
    const shadow = `CREATE TEMP TABLE session (gen bigint);
      CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
      SET search_path = pg_temp, cloudctl_share; SELECT cloudctl_share.read_session('own', 'p')`;
    expect(JSON.parse(/\{.*\}/s.exec(asMember(shadow).stdout)?.[0] ?? '{}')).toMatchObject({ session: { gen: 3 } });
    expect([await rows(), await log()]).toEqual([before, entries]);
  });
});

describe.each<{ readonly program: RedisProgram }>([{ program: 'redis' }, { program: 'valkey' }])(
  'a member in $program',
  ({ program }) => {
    const isMissing = lacks(`${program}-server`, 'redis-cli');
    const password = 'a-long-random-password';
    let server: RedisServer;
    let hasWaitAof: boolean;
    beforeAll(async () => {
      if (isMissing) return;
      server = await startRedis({ program, config: ['appendonly yes'] });
      const replies = server.script(fileInGuide('members.acl'));
      hasWaitAof = replies[1] === 'OK';
      expect(replies[0]).toBe('OK');
    });
    afterAll(() => server?.stop());

    it.skipIf(isMissing)('can do all that a fleet does', async () => {
      const url = `redis://ci:${password}@127.0.0.1:${server.port}/0`;
      await useShare(await shareMachines(url), `redis://127.0.0.1:${server.port}/0`);
      const refused = server.cli('ACL', 'LOG').includes('ci') && hasWaitAof;
      expect(refused).toBe(false);
    });

    it.skipIf(isMissing)('cannot use other keys and commands', () => {
      server.cli('SET', 'other', 'value');
      for (const command of [
        ['EVAL', "return redis.call('GET', 'other')", '0'],
        ['HGETALL', 'other'],
        ['EVAL', "return redis.call('DEL', KEYS[1])", '1', 'cloudctl:{a}:p'],
        ['DEL', 'cloudctl:{a}:p'],
        ['EXPIRE', 'cloudctl:{a}:p', '1'],
        ['XTRIM', 'cloudctl:{a}:p:log', 'MAXLEN', '0'],
        ['FLUSHALL'],
        ['KEYS', '*'],
        ['CONFIG', 'GET', '*'],
        ['ACL', 'LIST'],
        ['MONITOR'],
        ['SCRIPT', 'FLUSH'],
        ['SHUTDOWN'],
      ])
        expect([command, server.cli('--user', 'ci', '--pass', password, ...command)]).toEqual([
          command,
          expect.stringMatching(/NOPERM|permissions|subcommand|keys/),
        ]);
      expect(server.cli('GET', 'other')).toBe('value');
    });
  },
);
