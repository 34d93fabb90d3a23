import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { MigrationError, redactReason } from '../../../../src/db/engine/error.ts';
import { createDatabase, listSourceDatabases } from '../../../../src/db/engine/postgresql/databases.ts';
import { readIdentity, requireMigratable } from '../../../../src/db/engine/postgresql/identity.ts';
import { replicationName } from '../../../../src/db/engine/postgresql/names.ts';
import { singleValue, withSession } from '../../../../src/db/engine/postgresql/session.ts';
import { readSourceStatus } from '../../../../src/db/engine/postgresql/status.ts';
import { copyRoles } from '../../../../src/db/engine/postgresql/target.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf, startSource, startTarget, testEngineDependencies } from '../servers.ts';

let source: Postgres;
let target: Postgres;
const name = 'cloudctl-test';

beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget()]);
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

test('a name fits a slot, and tells migrations and databases apart', () => {
  const id = '3B643AD7-65aa-4066-b45b-1c64b6db600a';
  expect(replicationName(id, '16384')).toBe('cloudctl_3b643ad765aa4066b45b1c64b6db600a_16384');
  expect(replicationName(id, '4294967295')).toMatch(/^[a-z0-9_]{1,63}$/);
});

test('a reason never contains a password', () => {
  const words = 'FATAL: hunter22 is wrong';
  expect(redactReason(new MigrationError(words), undefined, new Secret('hunter22'))).toBe('FATAL: [secret] is wrong');
});

test('servers are incompatible when the source is newer, has no logical replication, or is the target', () => {
  const server = { version: 170_004, system: '1', startedAt: 'a' };
  expect(() => requireMigratable(server, { ...server, startedAt: 'b' })).not.toThrow();
  const refused = [
    { source: server, target: server },
    { source: server, target: { version: 160_001, system: '2', startedAt: 'b' } },
    { source: { ...server, version: 90_624 }, target: { ...server, system: '2' } },
  ].map(({ source: from, target: to }) => {
    try {
      requireMigratable(from, to);
      return 'compatible';
    } catch (error) {
      return error instanceof MigrationError ? error.message : String(error);
    }
  });
  expect(refused).not.toContain('compatible');
  expectGolden('db-migrate', refused.join('\n'));
});

test('settings of the role do not apply to a session, and it is closed after a failure', async () => {
  await source.query(
    "ALTER ROLE postgres SET statement_timeout = '1s'; ALTER ROLE postgres SET search_path = 'odd'; ALTER ROLE postgres SET datestyle = 'SQL, DMY'",
  );
  const endpoint = postgresEndpointOf(source);
  const found = await withSession(endpoint, testEngineDependencies(), { name }, async (session) => [
    await singleValue(session, 'SHOW statement_timeout'),
    await singleValue(session, 'SHOW search_path'),
    await singleValue(session, "SELECT DATE '2020-02-01'::text"),
  ]);
  expect(found).toEqual(['0', 'pg_catalog, pg_temp', '2020-02-01']);
  const failure = withSession(endpoint, testEngineDependencies(), { name }, () => Promise.reject(new Error('broken')));
  await expect(failure).rejects.toThrow('broken');
  expect(await source.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = '${name}'`)).toEqual([]);
  await source.query('ALTER ROLE postgres RESET ALL');
});

test('a database is made as it is on the source, once, and roles without rights over everything', async () => {
  await source.query("CREATE DATABASE \"My-DB\" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  await source.query('CREATE ROLE boss SUPERUSER LOGIN');
  await withSession(postgresEndpointOf(source), testEngineDependencies(), { name }, (from) =>
    withSession(postgresEndpointOf(target), testEngineDependencies(), { name }, async (to) => {
      const databases = await listSourceDatabases(from, ['postgres']);
      expect(databases).toMatchObject([{ name: 'My-DB', encoding: 'LATIN1', collate: 'C' }]);
      for (let twice = 0; twice < 2; twice++) {
        expect(await createDatabase(to, databases[0]!)).toEqual([]);
        expect(await copyRoles(from, to, randomBytes)).toEqual([]);
      }
    }),
  );
  const [made] = await target.query(
    "SELECT pg_encoding_to_char(encoding) AS e FROM pg_database WHERE datname = 'My-DB'",
  );
  expect(made).toEqual({ e: 'LATIN1' });
  expect(await target.query("SELECT rolsuper, rolcanlogin FROM pg_roles WHERE rolname = 'boss'")).toEqual([
    { rolsuper: false, rolcanlogin: true },
  ]);
});

test('a role that the target had before gets no member, and before 16 no role gets CREATEROLE', async () => {
  await source.query('CREATE ROLE keeper; CREATE ROLE guest IN ROLE keeper; CREATE ROLE maker CREATEROLE');
  await target.query('CREATE ROLE keeper SUPERUSER');
  const older = await startTarget({ version: 15 });
  const warnings: string[] = [];
  await withSession(postgresEndpointOf(source), testEngineDependencies(), { name }, async (from) => {
    for (const server of [target, older]) {
      await withSession(postgresEndpointOf(server), testEngineDependencies(), { name }, async (to) => {
        warnings.push(...(await copyRoles(from, to, randomBytes)));
        // What the first time created is there before the second time.
        if (server === older) warnings.push(...(await copyRoles(from, to, randomBytes)));
      });
    }
  });
  expectGolden('db-migrate', warnings.join('\n'));
  const held =
    "SELECT pg_has_role('guest', 'keeper', 'member') AS held, rolcreaterole FROM pg_roles WHERE rolname = 'maker'";
  expect(await target.query(held)).toEqual([{ held: false, rolcreaterole: true }]);
  expect(await older.query(held)).toEqual([{ held: true, rolcreaterole: false }]);
});

test('a slot has caught up when it has confirmed all that was written up to the look before', async () => {
  await source.query("SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
  await withSession(postgresEndpointOf(source), testEngineDependencies(), { name }, async (session) => {
    const { version } = await readIdentity(session);
    const first = await readSourceStatus(session, ['s'], undefined, version);
    expect(first.slots.get('s')).toMatchObject({ caughtUp: false, lost: false });
    await source.query('CREATE TABLE written AS SELECT generate_series(1, 100) n');
    const second = await readSourceStatus(
      session,
      ['s', 'other'],
      (await readSourceStatus(session, [], undefined, version)).endLsn,
      version,
    );
    expect([...second.slots.keys()]).toEqual(['s']);
    expect(second.slots.get('s')).toMatchObject({ caughtUp: false });
    expect(second.slots.get('s')!.lagBytes).toBeGreaterThan(1000);
  });
  await source.query("SELECT pg_drop_replication_slot('s')");
});
