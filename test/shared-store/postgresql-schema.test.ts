import { afterAll, beforeAll, expect, it } from 'vitest';
import { initializeSharedStore } from '../../src/shared-store/initialize-shared-store.ts';
import { buildShareSchemaSql } from '../../src/shared-store/postgresql-schema.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { runPsql } from '../fixtures/psql.ts';

let server: Postgres | undefined;
beforeAll(async () => {
  server = await startPostgres({ version: 14 });
});
afterAll(() => server?.stop());

const address = (user: string, password: string) =>
  parseSharedStoreUrl(`postgres://${user}:${password}@127.0.0.1:${server!.port}/postgres`, () => undefined);

it('a role that may not create the schema gets SQL, which psql runs, twice, also with a strange role name', async () => {
  await server!.query("CREATE ROLE guest LOGIN PASSWORD 'guest'");
  const role = `it's "a" $$ role\\`;
  const prepared = await initializeSharedStore(address('guest', 'guest'), role);
  if (prepared.kind !== 'forbidden') throw new Error(prepared.kind);
  for (const _run of [1, 2]) expect(runPsql(server!, prepared.sql)).toMatchObject({ code: 0 });
  const [granted] = await server!.query(
    `SELECT rolname, has_function_privilege(oid, 'cloudctl_share.read_session(text, text)', 'EXECUTE') AS may FROM pg_roles WHERE rolname LIKE 'it%'`,
  );
  expect(granted).toEqual({ rolname: role, may: true });
  await server!.query(`GRANT "it's ""a"" $$ role\\" TO guest`);
  expect(await initializeSharedStore(address('guest', 'guest'), role)).toEqual({ kind: 'ready' });
});

it('a member can execute the functions and nothing else', async () => {
  await initializeSharedStore(address('postgres', server!.password), 'members');
  await server!.query('CREATE ROLE ci IN ROLE members');
  const asMember = async (sql: string): Promise<unknown> =>
    server!.query(`SET ROLE ci; ${sql}`).catch((error: unknown) => error);
  expect(await asMember("SELECT cloudctl_share.read_session('a', 'b')")).toHaveLength(1);
  for (const sql of [
    'SELECT * FROM cloudctl_share.session',
    'DELETE FROM cloudctl_share.log',
    'UPDATE cloudctl_share.session SET gen = 1',
    "SELECT cloudctl_share.snapshot('a', 'b', true)",
  ])
    expect(await asMember(sql)).toMatchObject({ code: '42501' });
});

it('every function of members has the rights of its owner and a fixed search_path', async () => {
  const rows = await server!.query(
    `SELECT p.proname, p.prosecdef, p.proconfig::text AS config FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'cloudctl_share' ORDER BY 1`,
  );
  const names = (isDefiner: boolean) => rows.filter((row) => row.prosecdef === isDefiner).map((row) => row.proname);
  expect(names(false)).toEqual(['now_ms', 'snapshot']);
  expect(names(true).length).toBeGreaterThan(7);
  expect(rows.filter(({ config }) => config !== '{"search_path=pg_catalog, pg_temp"}')).toEqual([]);
});

it('the schema of another role is not changed, and nothing in it is executed with more rights', async () => {
  await server!.query("CREATE ROLE mallory LOGIN PASSWORD 'mallory'");
  await server!.query('CREATE DATABASE trap');
  await server!.query('GRANT CREATE ON DATABASE trap TO mallory');
  for (const sql of [
    'CREATE SCHEMA cloudctl_share',
    'CREATE TABLE cloudctl_share.meta (version integer NOT NULL)',
    `CREATE FUNCTION cloudctl_share.schema_version() RETURNS text LANGUAGE plpgsql AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN 9; END'`,
    `CREATE FUNCTION cloudctl_share.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN NEW; END'`,
    'CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON cloudctl_share.meta FOR EACH ROW EXECUTE FUNCTION cloudctl_share.trap()',
  ])
    await server!.query(`SET ROLE mallory; ${sql}`, 'trap');
  const url = `postgres://postgres:${server!.password}@127.0.0.1:${server!.port}/trap`;
  const prepared = await initializeSharedStore(
    parseSharedStoreUrl(url, () => undefined),
    'members',
  );
  expect(prepared).toMatchObject({ kind: 'forbidden', reason: expect.stringContaining('mallory') });
  expect(runPsql(server!, buildShareSchemaSql('members'), { database: 'trap' }).code).not.toBe(0);
  const [role] = await server!.query("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'");
  expect(role).toEqual({ rolsuper: false });
});

it('a schema with a session is upgraded without a change of its rows, also from an earlier version', async () => {
  const owner = address('postgres', server!.password);
  await initializeSharedStore(owner, 'members');
  await server!.query("SELECT cloudctl_share.commit_session('s', 'p', 1, 'aa', 1, 'k', 'r', 'ci-1#a', 'login')");
  await server!.query('UPDATE cloudctl_share.meta SET version = 0');
  const contents = () =>
    server!.query(`SELECT (SELECT json_agg(s) FROM cloudctl_share.session s)::text AS sessions,
      (SELECT json_agg(l) FROM cloudctl_share.log l)::text AS log`);
  const before = await contents();
  expect(await initializeSharedStore(owner, 'members')).toEqual({ kind: 'ready' });
  expect(await contents()).toEqual(before);
  // A newer version stays as it is.
  await server!.query('UPDATE cloudctl_share.meta SET version = 99');
  expect(await initializeSharedStore(owner, 'members')).toEqual({ kind: 'ready' });
  expect(await server!.query('SELECT version FROM cloudctl_share.meta')).toEqual([{ version: 99 }]);
});

it('an upgrade only adds', () => {
  expect(buildShareSchemaSql('r')).not.toMatch(/\b(DROP|TRUNCATE|DELETE)\b/);
});
