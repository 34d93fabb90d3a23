import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityStatement } from '../../../../src/db/preflight/postgresql/checks/replica-identity.ts';
import { singleLineSql } from '../../../../src/postgresql/psql-script.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { eventually } from '../../../fixtures/redis.ts';

describe.each([14, 18] as const)('REPLICA IDENTITY USING INDEX on PostgreSQL %i', (version) => {
  let server: Postgres;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      setup: [
        'CREATE ROLE bob LOGIN',
        'CREATE ROLE keeper LOGIN IN ROLE bob',
        'CREATE SCHEMA bob AUTHORIZATION bob',
        'CREATE TABLE t (id int NOT NULL)',
        'CREATE UNIQUE INDEX i ON t (id)',
        'CREATE TABLE bob.t (id int NOT NULL)',
        'CREATE UNIQUE INDEX i ON bob.t (id)',
        'CREATE TABLE bob.mine (id int NOT NULL)',
        'ALTER TABLE bob.mine OWNER TO bob',
        // The index was exchanged after the preflight: planning its predicate runs the function.
        `CREATE FUNCTION bob.f(text) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'`,
        "CREATE UNIQUE INDEX i2 ON bob.mine (id) WHERE bob.f('x') > 0",
        `CREATE OR REPLACE FUNCTION bob.f(text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
         $$BEGIN RAISE LOG 'CANARY %', current_user; RETURN 1; END$$`,
      ],
    });
  }, 120_000);
  afterAll(() => server?.stop());

  const statement = (name: string, index: string) =>
    singleLineSql(identityStatement({ name } as Parameters<typeof identityStatement>[0], `USING INDEX "${index}"`)) ??
    '';
  const open = async () => {
    const session = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'postgres' });
    session.on('error', () => {});
    await session.connect();
    return session;
  };
  const identities = async () =>
    Object.fromEntries(
      (
        await server.query<{ name: string; is: string }>(
          "SELECT oid::regclass::text AS name, relreplident AS is FROM pg_class WHERE relkind = 'r' AND oid >= 16384",
        )
      ).map((row) => [row.name, row.is]),
    );

  test('a superuser changes tables of others, and refuses an index with an expression', async () => {
    for (const sql of [statement('public.t', 'i'), statement('bob.t', 'i')]) await server.query(sql);
    await expect(server.query(statement('bob.mine', 'i2'))).rejects.toThrow('i2');
    await expect(server.query(statement('bob.mine', 'i'))).rejects.toThrow('bob.mine');
    expect(await identities()).toEqual({ t: 'i', 'bob.t': 'i', 'bob.mine': 'd' });
    expect(server.log()).not.toContain('CANARY');
  });

  test('a member of the owner changes its tables, and refuses an index with an expression', async () => {
    await server
      .query(`SET ROLE keeper; ALTER TABLE bob.mine REPLICA IDENTITY DEFAULT; ${statement('bob.mine', 'i2')}`)
      .then(
        () => expect.unreachable(),
        (error: unknown) => expect(String(error)).toContain('i2'),
      );
    await server.query(
      `CREATE UNIQUE INDEX simple ON bob.mine (id); SET ROLE keeper; ${statement('bob.mine', 'simple')}`,
    );
    expect(await identities()).toMatchObject({ 'bob.mine': 'i' });
    await server.query('ALTER TABLE bob.mine REPLICA IDENTITY DEFAULT; DROP INDEX bob.simple');
    expect(server.log()).not.toContain('CANARY');
  });

  test('nobody renames the index or its schema meanwhile', async () => {
    for (const sql of ['ALTER INDEX bob.i RENAME TO k', 'ALTER SCHEMA bob RENAME TO eve', 'DROP SCHEMA bob CASCADE']) {
      const [superuser, owner] = await Promise.all([open(), open()]);
      await superuser.query(`BEGIN; ${statement('bob.t', 'i')}`);
      await expect(owner.query(`SET lock_timeout = 300; ${sql}`)).rejects.toThrow(/lock timeout/);
      await Promise.all([superuser.end(), owner.end()]);
    }
  });

  test('an owner who exchanges the index at that moment gets no code run', async () => {
    const [superuser, owner] = await Promise.all([open(), open()]);
    await owner.query('CREATE UNIQUE INDEX plain ON bob.mine (id)');
    await owner.query('BEGIN; ALTER INDEX bob.plain RENAME TO other; ALTER INDEX bob.i2 RENAME TO plain');
    const changed = superuser.query(statement('bob.mine', 'plain')).catch((error: unknown) => String(error));
    await eventually(async () => {
      const [row] = await server.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
      );
      return row?.n === 1;
    }, 'the wait');
    await owner.query('COMMIT');
    expect(await changed).toMatch(/plain of bob\.mine/);
    expect(server.log()).not.toContain('CANARY');
    await Promise.all([superuser.end(), owner.end()]);
  });

  test('the owner changes the table', async () => {
    await server.query('CREATE UNIQUE INDEX i3 ON bob.mine (id)');
    await server.query(`SET ROLE bob; ${statement('bob.mine', 'i3')}`);
    expect(await identities()).toMatchObject({ 'bob.mine': 'i' });
  });
});
