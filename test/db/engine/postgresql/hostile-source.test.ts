import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { schemaCopier } from '../../../../src/db/engine/schema/copy.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import {
  beginMigration,
  makePostgresJob,
  postgresEndpointOf,
  startSource,
  startTarget,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from '../servers.ts';
import { canaryOf, canaryPlaces, hostileDatabase } from './hostile-database.ts';

/** COPY does not plan, so it runs no code of the table. */
async function rowsOf(server: Postgres): Promise<readonly string[]> {
  const file = join(server.folder, 'rows');
  await server.query(`COPY public.goods (id, email) TO PROGRAM 'cat > ${file}'`, 'shop');
  return readFileSync(file, 'utf8').split('\n').sort();
}

/** One of each kind: a list of names, a list without quotes, a number, one of an extension, a role. */
const formerSettings = [
  `search_path = "$user", public, "odd, ""name"`,
  `DateStyle = 'ISO, DMY'`,
  `work_mem = '7MB'`,
  `shop.region = 'it''s \\ here'`,
  'role = none',
  'session_preload_libraries = auto_explain',
];

async function settingsOf(server: Postgres): Promise<readonly unknown[]> {
  return server.query(
    "SELECT unnest(setconfig) AS setting FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase WHERE datname = 'shop'",
  );
}

async function privilegesOf(server: Postgres): Promise<readonly unknown[]> {
  return server.query(
    `SELECT kind, grantee::regrole::text AS grantee, privilege_type, is_grantable FROM (
       SELECT 'database' AS kind, coalesce(datacl, acldefault('d', datdba)) AS acl FROM pg_database WHERE datname = 'shop'
       UNION ALL SELECT 'schema', coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace WHERE nspname = 'public'
     ) o, aclexplode(acl) ORDER BY 1, 2, 3, 4`,
    'shop',
  );
}

/** Without pg_dump the schema is copied from the catalogs. */
const copiers = {
  pg_dump: schemaCopier({ env: process.env }),
  'the catalogs': schemaCopier({ env: process.env, folder: '/nonexistent' }),
};

describe.each([14, 15, 16, 17, 18] as const)('into a target of PostgreSQL %i', (version) => {
  let source: Postgres;
  let target: Postgres;
  beforeAll(async () => {
    [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version })]);
    await source.query('CREATE DATABASE shop');
    for (const statement of await hostileDatabase(target)) await source.query(statement, 'shop');
  });
  afterAll(async () => {
    await Promise.all([source?.stop(), target?.stop()]);
  });

  test.each([
    { method: 'continuous', by: 'pg_dump' },
    { method: 'dump', by: 'pg_dump' },
    { method: 'continuous', by: 'the catalogs' },
  ] as const)('no code of the source runs as a superuser: $method, schema by $by', async ({ method, by }) => {
    await target.query('DROP DATABASE IF EXISTS shop');
    if (method === 'dump') {
      await target.query('CREATE DATABASE shop');
      await target.query('DROP ROLE IF EXISTS reader, "Re lay"; CREATE ROLE reader; CREATE ROLE "Re lay"');
      await target.query(
        'REVOKE ALL ON DATABASE shop FROM PUBLIC; GRANT CONNECT ON DATABASE shop TO reader WITH GRANT OPTION',
      );
      for (const setting of formerSettings) await target.query(`ALTER DATABASE shop SET ${setting}`);
    }
    const settings = await settingsOf(target);
    const privileges = method === 'dump' ? await privilegesOf(target) : undefined;
    expect(settings).toHaveLength(method === 'dump' ? formerSettings.length : 0);
    const before = target.log().length;
    const job = makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), {
      method,
      ignoreDbs: ['postgres'],
    });
    const migration = beginMigration(job, testEngineDependencies({ schemaCopy: copiers[by] }));
    if (method === 'continuous') {
      await waitForState(migration, ({ status }) => status === 'syncing');
      // The trigger tells that the row is there: reading it here would run the canary as a superuser.
      const fired = () => canaryOf(target.log().slice(before)).filter(({ place }) => place === 'trigger').length;
      const copied = fired();
      await source.query('INSERT INTO goods (id, email) SELECT max(id) + 1, $$a@b$$ FROM public.goods', 'shop');
      await waitUntil(async () => fired() > copied, 'the row');
      expect(await target.query(`SELECT subname FROM pg_subscription WHERE subconninfo ~ 'evil'`)).toEqual([]);
      expect(await migration.stop()).toEqual([]);
    }
    const state = await migration.ended;
    expect(state).toMatchObject({ status: method === 'dump' ? 'done' : 'canceled', leftovers: [] });
    const ran = canaryOf(target.log().slice(before));
    expect(ran.filter(({ superuser }) => superuser)).toEqual([]);
    expect([...new Set(ran.map(({ place }) => place))].sort()).toEqual(
      expect.arrayContaining([...canaryPlaces[method]]),
    );
    expect(existsSync(join(target.folder, 'canary'))).toBe(false);
    expect(
      await target.query("SELECT rolname FROM pg_roles WHERE rolname ~ 'canary' OR (rolsuper AND oid > 16383)"),
    ).toEqual([]);
    expect(await rowsOf(target)).toEqual(await rowsOf(source));
    const [owner] = await target.query(
      "SELECT r.rolsuper, r.rolcanlogin, r.rolbypassrls, r.rolname ~ '^cloudctl_' AS ours, (SELECT rolpassword FROM pg_authid a WHERE a.oid = r.oid) AS password FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.relname = 'goods'",
      'shop',
    );
    expect(owner).toEqual({
      rolsuper: false,
      rolcanlogin: false,
      rolbypassrls: false,
      ours: true,
      password: null,
    });
    expect(await settingsOf(target)).toEqual(settings);
    if (privileges !== undefined) expect(await privilegesOf(target)).toEqual(privileges);
    expect(await target.query("SELECT pg_get_userbyid(datdba) AS o FROM pg_database WHERE datname = 'shop'")).toEqual([
      { o: 'postgres' },
    ]);
  });
});

test('the canary is written by a superuser', async () => {
  const server = await startTarget({ version: 17 });
  await server.query('CREATE DATABASE shop');
  for (const statement of await hostileDatabase(server)) await server.query(statement, 'shop').catch(() => {});
  await server.query("INSERT INTO public.goods (id, email) VALUES (1000, 'a@b')", 'shop').catch(() => {});
  const ran = canaryOf(server.log());
  expect(ran.some(({ superuser }) => superuser)).toBe(true);
  expect(readFileSync(join(server.folder, 'canary'), 'utf8')).not.toBe('');
  expect(await server.query("SELECT 1 AS one FROM pg_roles WHERE rolname = 'canary'")).toEqual([{ one: 1 }]);
});

test('a target without a superuser is written to by the role that was given', async () => {
  const [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
  await source.query('CREATE DATABASE shop');
  await source.query('CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)', 'shop');
  await target.query("CREATE ROLE manager LOGIN CREATEDB CREATEROLE PASSWORD 'manager-word'");
  const login = postgresEndpointOf(target, { username: 'manager', password: new Secret('manager-word') });
  const job = makePostgresJob(postgresEndpointOf(source), login, { method: 'dump', ignoreDbs: ['postgres'] });
  const migration = beginMigration(job, testEngineDependencies({ schemaCopy: copiers.pg_dump }));
  expect(await migration.ended).toMatchObject({ status: 'done', leftovers: [] });
  expect(
    await target.query("SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname = 't'", 'shop'),
  ).toEqual([{ owner: 'manager' }]);
  expect(await target.query("SELECT rolname FROM pg_roles WHERE rolname ~ '^cloudctl_'")).toEqual([]);
});

test('a target whose host rules admit the superuser alone is an error that says so, and nothing is left', async () => {
  const [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
  await source.query('CREATE DATABASE shop');
  await target.rules('host all postgres all scram-sha-256');
  const job = makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { ignoreDbs: ['postgres'] });
  const migration = beginMigration(job, testEngineDependencies({ schemaCopy: copiers.pg_dump }));
  const { databases, leftovers } = await migration.ended;
  expect(leftovers).toEqual([]);
  expectGolden('db-migrate', (databases[0]?.error ?? '').replace(/cloudctl_\w+/, 'cloudctl_ID'));
  expect(await target.query("SELECT rolname FROM pg_roles WHERE rolname ~ '^cloudctl_'")).toEqual([]);
  expect(await target.query("SELECT pg_get_userbyid(datdba) AS o FROM pg_database WHERE datname = 'shop'")).toEqual([
    { o: 'postgres' },
  ]);
});

test('a login event trigger of the source does not run when a superuser logs in to the copy', async () => {
  const [source, target] = await Promise.all([startSource({ version: 17 }), startTarget({ version: 17 })]);
  await source.query('CREATE DATABASE shop');
  await source.query(
    `CREATE FUNCTION at_login() RETURNS event_trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE LOG 'canary in login, superuser %', (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user); END $$;
     CREATE EVENT TRIGGER at_login ON login EXECUTE FUNCTION at_login(); ALTER EVENT TRIGGER at_login ENABLE ALWAYS`,
    'shop',
  );
  await source.query('SELECT 1', 'shop');
  expect(canaryOf(source.log())).not.toEqual([]);
  const job = makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), {
    method: 'dump',
    ignoreDbs: ['postgres'],
    allowSuperuserObjects: true,
  });
  const migration = beginMigration(job, testEngineDependencies({ schemaCopy: copiers['the catalogs'] }));
  expect(await migration.ended).toMatchObject({ status: 'done', databases: [{ warnings: [expect.anything()] }] });
  expect(await target.query('SELECT evtname, evtenabled FROM pg_event_trigger', 'shop')).toEqual([
    { evtname: 'at_login', evtenabled: 'D' },
  ]);
  expect(canaryOf(target.log())).toEqual([]);
});
