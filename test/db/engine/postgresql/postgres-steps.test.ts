import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { MigrationError, redactErrorReason } from '../../../../src/db/engine/migration-error.ts';
import { copyRolesToTarget } from '../../../../src/db/engine/postgresql/copy-roles-to-target.ts';
import {
  createTargetDatabase,
  listSourceDatabases,
} from '../../../../src/db/engine/postgresql/database-creation-properties.ts';
import { querySingleValue, withEngineDatabaseSession } from '../../../../src/db/engine/postgresql/engine-session.ts';
import { replicationObjectName } from '../../../../src/db/engine/postgresql/replication-object-names.ts';
import { readPostgresqlSourceReplicationStatus } from '../../../../src/db/engine/postgresql/replication-status.ts';
import {
  readPostgresqlServerIdentity,
  requireMigratablePostgresqlServers,
} from '../../../../src/db/engine/postgresql/server-identity.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf, startSource, startTarget, testEngineDependencies } from '../engine-servers.ts';

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
  expect(replicationObjectName(id, '16384')).toBe('cloudctl_3b643ad765aa4066b45b_16384');
  expect(replicationObjectName(id, '4294967295')).toMatch(/^[a-z0-9_]{1,63}$/);
});

test('a reason never contains a password', () => {
  const words = 'FATAL: hunter22 is wrong';
  expect(redactErrorReason(new MigrationError(words), undefined, new Secret('hunter22'))).toBe(
    'FATAL: [secret] is wrong',
  );
});

test('servers are incompatible when the source is newer, has no logical replication, or is the target', () => {
  const server = { version: 170_004, system: '1', startedAt: 'a' };
  expect(() => requireMigratablePostgresqlServers(server, { ...server, startedAt: 'b' })).not.toThrow();
  const refused = [
    { source: server, target: server },
    { source: server, target: { version: 160_001, system: '2', startedAt: 'b' } },
    { source: { ...server, version: 90_624 }, target: { ...server, system: '2' } },
  ].map(({ source: from, target: to }) => {
    try {
      requireMigratablePostgresqlServers(from, to);
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
  const found = await withEngineDatabaseSession(endpoint, testEngineDependencies(), { name }, async (session) => [
    await querySingleValue(session, 'SHOW statement_timeout'),
    await querySingleValue(session, 'SHOW search_path'),
    await querySingleValue(session, "SELECT DATE '2020-02-01'::text"),
  ]);
  expect(found).toEqual(['0', 'pg_catalog, pg_temp', '2020-02-01']);
  const failure = withEngineDatabaseSession(endpoint, testEngineDependencies(), { name }, () =>
    Promise.reject(new Error('broken')),
  );
  await expect(failure).rejects.toThrow('broken');
  expect(await source.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = '${name}'`)).toEqual([]);
  await source.query('ALTER ROLE postgres RESET ALL');
});

test('a database is made as it is on the source, once, and roles without rights over everything', async () => {
  await source.query("CREATE DATABASE \"My-DB\" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  await source.query('CREATE ROLE boss SUPERUSER LOGIN');
  await withEngineDatabaseSession(postgresEndpointOf(source), testEngineDependencies(), { name }, (from) =>
    withEngineDatabaseSession(postgresEndpointOf(target), testEngineDependencies(), { name }, async (to) => {
      const databases = await listSourceDatabases(from, ['postgres']);
      expect(databases).toMatchObject([{ name: 'My-DB', encoding: 'LATIN1', collate: 'C' }]);
      for (let twice = 0; twice < 2; twice++) {
        expect(await createTargetDatabase(to, databases[0]!)).toEqual([]);
        expect(await copyRolesToTarget(from, to, randomBytes)).toEqual([]);
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
  await withEngineDatabaseSession(postgresEndpointOf(source), testEngineDependencies(), { name }, async (from) => {
    for (const server of [target, older]) {
      await withEngineDatabaseSession(postgresEndpointOf(server), testEngineDependencies(), { name }, async (to) => {
        warnings.push(...(await copyRolesToTarget(from, to, randomBytes)));
        // What the first time created is there before the second time.
        if (server === older) warnings.push(...(await copyRolesToTarget(from, to, randomBytes)));
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
  await withEngineDatabaseSession(postgresEndpointOf(source), testEngineDependencies(), { name }, async (session) => {
    const { version } = await readPostgresqlServerIdentity(session);
    const first = await readPostgresqlSourceReplicationStatus(session, ['s'], undefined, version);
    expect(first.slots.get('s')).toMatchObject({ caughtUp: false, lost: false });
    await source.query('CREATE TABLE written AS SELECT generate_series(1, 100) n');
    const second = await readPostgresqlSourceReplicationStatus(
      session,
      ['s', 'other'],
      (await readPostgresqlSourceReplicationStatus(session, [], undefined, version)).endLsn,
      version,
    );
    expect([...second.slots.keys()]).toEqual(['s']);
    expect(second.slots.get('s')).toMatchObject({ caughtUp: false });
    expect(second.slots.get('s')!.lagBytes).toBeGreaterThan(1000);
  });
  await source.query("SELECT pg_drop_replication_slot('s')");
});
