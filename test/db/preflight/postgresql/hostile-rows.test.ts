import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sequencesQuery } from '../../../../src/db/cutover/postgresql/sequences.ts';
import {
  listTablesWithCopiedColumns,
  readSequenceStatesAsText,
  readTableContentDigests,
} from '../../../../src/db/cutover/postgresql/tables.ts';
import { connectPostgresql } from '../../../../src/postgresql/connection.ts';
import { makeSessionSafe } from '../../../../src/postgresql/search-path-safe-session.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf } from '../../engine/servers.ts';
import { found, preflightServer } from './preflight.ts';
import { queryRows } from './query-rows.ts';

/** What the owner of a database may create in it. Each expression calls a function that reports its caller to the log. */
function hostileTables(version: number): readonly string[] {
  const attack = (table: string) => [
    `CREATE INDEX ON ${table} ((1)) WHERE evil.canary('predicate of ${table}')`,
    `CREATE INDEX ON ${table} ((CASE WHEN evil.canary('expression of ${table}') THEN 1 END))`,
    `ALTER TABLE ${table} ADD CHECK (evil.canary('check of ${table}'))`,
    `CREATE STATISTICS evil.of_${table} ON (CASE WHEN evil.canary('statistics of ${table}') THEN 1 END) FROM ${table}`,
  ];
  return [
    'CREATE SCHEMA evil',
    `CREATE FUNCTION evil.canary(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
     $$BEGIN RAISE LOG 'CANARY % runs as %', place, current_user; RETURN true; END$$`,
    "CREATE DOMAIN small AS int CHECK (evil.canary('domain'))",
    "CREATE TYPE colour AS ENUM ('red')",
    "CREATE FUNCTION evil.to_json(colour) RETURNS json LANGUAGE sql AS $$SELECT CASE WHEN evil.canary('cast') THEN '{}'::json END$$",
    'CREATE CAST (colour AS json) WITH FUNCTION evil.to_json(colour)',
    `CREATE TABLE hashed (a int, b small, c colour, g int GENERATED ALWAYS AS (CASE WHEN evil.canary('generated') THEN 1 END) STORED)`,
    "INSERT INTO hashed VALUES (NULL, 1, 'red')",
    'CREATE INDEX hashed_a ON hashed USING hash (a)',
    'ALTER TABLE hashed REPLICA IDENTITY FULL',
    ...attack('hashed'),
    "ALTER TABLE hashed ADD CONSTRAINT late CHECK (b < 10 AND evil.canary('not valid')) NOT VALID",
    "ALTER DOMAIN small ADD CONSTRAINT late CHECK (value < 10 AND evil.canary('not valid domain')) NOT VALID",
    'ALTER TABLE hashed ADD CONSTRAINT who CHECK (current_user IS NOT NULL)',
    "ALTER TABLE hashed ADD CONSTRAINT zone CHECK ('2026-01-01'::timestamptz::date > '2000-01-01')",
    'CREATE TABLE names (id int PRIMARY KEY, f regproc, r regclass, acl aclitem[])',
    "INSERT INTO names VALUES (1, 1395, 'pg_class', '{=r/mallory}')",
    ...attack('names'),
    'CREATE TABLE parts (r regclass) PARTITION BY HASH (r)',
    'CREATE TABLE part PARTITION OF parts FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
    "INSERT INTO parts VALUES ('names')",
    ...attack('part'),
    `CREATE TABLE keyed (a int) PARTITION BY RANGE ((CASE WHEN evil.canary('key') THEN a END))`,
    'CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES FROM (0) TO (9)',
    'INSERT INTO keyed VALUES (1)',
    ...(version >= 18
      ? [
          'CREATE TABLE heir (a int)',
          'INSERT INTO heir VALUES (NULL)',
          'ALTER TABLE heir ADD CONSTRAINT n NOT NULL a NOT VALID',
        ]
      : [
          'CREATE TABLE parent (a int NOT NULL)',
          'CREATE TABLE heir () INHERITS (parent)',
          'ALTER TABLE heir ALTER a DROP NOT NULL',
          'INSERT INTO heir VALUES (NULL)',
        ]),
    ...attack('heir'),
    'CREATE TABLE guarded (id int PRIMARY KEY)',
    'INSERT INTO guarded VALUES (1)',
    "CREATE POLICY p ON guarded USING (evil.canary('policy'))",
    'ALTER TABLE guarded ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
    ...attack('guarded'),
    'CREATE SEQUENCE numbers',
    'CREATE TABLE swapped (a int); INSERT INTO swapped VALUES (NULL); CREATE INDEX swapped_a ON swapped USING hash (a)',
    'ALTER TABLE swapped REPLICA IDENTITY FULL',
  ];
}

describe.each([14, 15, 16, 17, 18] as const)('a hostile owner of a database of PostgreSQL %i', (version) => {
  let server: Postgres;
  let before = 0;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      settings: ready,
      setup: ["CREATE ROLE mallory LOGIN PASSWORD 'secret'", 'CREATE DATABASE hostile OWNER mallory'],
    });
    for (const statement of hostileTables(version)) {
      await server.query(`SET SESSION AUTHORIZATION mallory; ${statement}`, 'hostile');
    }
    before = server.log().length;
  }, 60_000);
  afterAll(() => server?.stop());

  /** What ran with other rights than those of its author. */
  const canaries = () =>
    [
      ...server
        .log()
        .slice(before)
        .matchAll(/CANARY (.+) runs as (?!mallory$)\w+$/gm),
    ].map(([line]) => line);

  test('preflight finds rows without running their expressions', async () => {
    const report = await preflightServer({ port: server.port, password: server.password, dbname: 'hostile' });
    expect(canaries()).toEqual([]);
    const statuses = [
      'full-without-eq',
      'partitions',
      'not-valid',
      'session-checks',
      'setting-checks',
      'callable-names',
    ].map((id) => `${id}: ${found(report, id, 'hostile').status}`);
    expect(statuses).toEqual([
      'full-without-eq: fail',
      'partitions: fail',
      'not-valid: fail',
      'session-checks: unknown',
      'setting-checks: unknown',
      'callable-names: fail',
    ]);
  });

  test('reading every row runs nothing either', async () => {
    const deep = { bytesPerSecond: 1e9, timeout: undefined };
    const report = await preflightServer({
      ...{ port: server.port, password: server.password, dbname: 'hostile' },
      options: { deep, ignoreDbs: ['postgres'] },
    });
    expect(report.rows).toMatchObject({ state: 'read' });
    expect(report.rows.state === 'not_read' ? 0 : report.rows.rows).toBeGreaterThan(3);
    expect(canaries()).toEqual([]);
  });

  test('sequences and the comparison of a rehearsal run nothing either', async () => {
    const sql = sequencesQuery.sql(version * 10_000, { inRecovery: false, superuser: true }) ?? '';
    expect(sequencesQuery.decode(await queryRows(server, 'hostile', sql))).toHaveLength(1);
    const source = { ...postgresEndpointOf(server), dbname: 'hostile' };
    const session = await makeSessionSafe(await connectPostgresql(source, { dbname: 'hostile', limit: 10_000 }));
    try {
      const tables = await listTablesWithCopiedColumns(session);
      const contents = await readTableContentDigests(session, tables, {
        ...{ limit: 10_000, oldest: 140_000 },
        onFailure: (name, error) => expect.unreachable(`${name}: ${error.message}`),
      });
      expect(contents.get('public.hashed')?.rows).toBe(1);
      expect(contents.size).toBe(tables.length);
      await readSequenceStatesAsText(session);
    } finally {
      await session.end();
    }
    expect(canaries()).toEqual([]);
  });

  test('a table that becomes a view before its rows are read is not read', async () => {
    const swap = `
      import pg from 'pg';
      const client = new pg.Client({ host: ${JSON.stringify(server.folder)}, port: ${server.port}, user: 'postgres', database: 'hostile' });
      await client.connect();
      await client.query(\`SET SESSION AUTHORIZATION mallory; ALTER TABLE swapped RENAME TO gone;
        CREATE VIEW swapped AS SELECT CASE WHEN evil.canary('view') THEN 1 END AS a\`);
      await client.end();`;
    let isSwapped = false;
    const report = await preflightServer(
      { port: server.port, password: server.password, dbname: 'hostile' },
      {
        onQuery: (_database, text) => {
          if (isSwapped || !text.includes('COPY "public"."swapped"')) return;
          isSwapped = true;
          execFileSync(process.execPath, ['--input-type=module', '-e', swap]);
        },
      },
    );
    expect(isSwapped).toBe(true);
    expect(found(report, 'full-without-eq', 'hostile')).toBeDefined();
    expect(canaries()).toEqual([]);
  });
});
