import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { found, preflightServer } from './preflight.ts';

/** What an owner can store for a database, and what changes the text in which the server writes names and values. */
const textSettings = [
  'quote_all_identifiers = on',
  "DateStyle = 'German, DMY'",
  'IntervalStyle = sql_standard',
  "TimeZone = 'Asia/Tokyo'",
  'bytea_output = escape',
  'extra_float_digits = -15',
  'standard_conforming_strings = off',
  "lc_monetary = 'C.utf8'",
];

const schema = [
  'CREATE TYPE place AS (x int, c regclass)',
  'CREATE TABLE t (id int PRIMARY KEY, r regclass, f regproc, p place, ps place[])',
  `INSERT INTO t VALUES (1, 't', 'now', ROW(1, 'pg_class'), ARRAY[ROW(2, 't')::place])`,
  `CREATE TABLE ranges (at timestamptz, n int, PRIMARY KEY (at, n)) PARTITION BY RANGE (at)`,
  `CREATE TABLE r1 PARTITION OF ranges FOR VALUES FROM ('2026-03-04 05:06+00') TO ('2026-04-03 05:06+00')`,
  `CREATE TABLE c (id int PRIMARY KEY, b bytea CHECK (b <> '\\x00'), f float8 CHECK (f < 0.1234567890123), d date CHECK (d > '2001-02-03'),
     i interval CHECK (i < interval '1 day 2 hours'), w text CHECK (w <> 'a\\b'))`,
  `CREATE FUNCTION plus(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + 1'`,
  'CREATE TABLE "Odd" ("A" int PRIMARY KEY, g int GENERATED ALWAYS AS (plus("A")) STORED)',
  'INSERT INTO "Odd" VALUES (1)',
  'CREATE VIEW v AS SELECT id, r::text AS name FROM t',
];

test.each([15, 18] as const)(
  'settings that are stored for a database do not change its verdict (%i)',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    for (const database of ['plain', 'stored']) {
      await server.query(`CREATE DATABASE ${database}`);
      for (const statement of schema) await server.query(statement, database);
    }
    for (const setting of textSettings) await server.query(`ALTER DATABASE stored SET ${setting}`);
    const report = await preflightServer({ ...server, options: { targetVersion: '18', ignoreDbs: ['postgres'] } });
    expect(report.databases.map(({ verdict }) => verdict)).toEqual(['continuous', 'continuous']);
    const about = (name: string) =>
      report.findings
        // The settings themselves are a loss, which `grants` reports.
        .filter(({ id, database }) => database === name && id !== 'grants')
        .map(({ id, status, objects }) => ({ id, status, objects }));
    expect(about('stored')).toEqual(about('plain'));
    expect(found(report, 'system-values', 'stored')).toMatchObject({ status: 'pass' });
  },
);
