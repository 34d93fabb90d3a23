import { expect, test } from 'vitest';
import { connectPostgresql } from '../../src/postgresql/connection.ts';
import { readOnlySql } from '../../src/postgresql/search-path-safe-sql.ts';
import {
  copyStatement,
  copyTransaction,
  isNullField,
  readRows,
  splitBinaryRow,
  splitTextRow,
} from '../../src/postgresql/table-rows.ts';
import { postgresEndpointOf } from '../db/engine/servers.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';

const table = { schema: 'public', name: 't', columns: ['a', 'The "b'] };
const limits = { time: 30_000, bytes: 1_000_000 };
const decode = (row: Uint8Array) => new Uint8Array(row);

async function read(server: Postgres, version: number, more: Partial<typeof table> & { format?: 'binary' } = {}) {
  const session = await connectPostgresql(postgresEndpointOf(server), { dbname: 'postgres', limit: 10_000 });
  const rows: Uint8Array[] = [];
  const { format, ...names } = more;
  const text = readOnlySql(copyTransaction({ ...table, ...names }, version * 10_000 + 99, format));
  try {
    const end = await readRows(session, text, (row) => rows.push(decode(row)) === 0, limits);
    return { end, rows };
  } finally {
    await session.end();
  }
}

test.each([
  [90_600, false],
  [120_019, false],
  [120_020, true],
  [130_015, false],
  [130_016, true],
  [140_012, false],
  [140_013, true],
  [150_007, false],
  [150_008, true],
  [160_003, false],
  [160_004, true],
  [170_000, true],
  [190_000, true],
])('version %i knows restrict_nonsystem_relation_kind: %s', (version, isKnown) => {
  const statements = copyTransaction(table, version);
  expect(statements.some((one) => one.includes('restrict_nonsystem_relation_kind'))).toBe(isKnown);
  expect(statements).toContain('SET LOCAL row_security = off');
  expect(statements.at(-1)).toBe('COPY "public"."t" ("a", "The ""b") TO STDOUT');
});

test('names are quoted from what the catalog has', () => {
  expect(copyStatement({ schema: 's"; DROP', name: 'n; --', columns: [] })).toBe('COPY "s""; DROP"."n; --" TO STDOUT');
});

test.each([14, 18] as const)('rows of PostgreSQL %i are decoded', async (version) => {
  const server = await startPostgres({
    version,
    setup: [
      'CREATE TABLE t (a text, "The ""b" regclass)',
      String.raw`INSERT INTO t VALUES (E'tab\t line\n back\\ cr\r', 'pg_class'), (NULL, NULL), ('\N', 0), ('', 1259)`,
      'CREATE VIEW v AS SELECT * FROM t',
      'CREATE TABLE p (a text, "The ""b" int) PARTITION BY LIST (a)',
    ],
  });
  const { end, rows } = await read(server, version);
  expect(end).toBe('complete');
  expect(rows.map(splitTextRow)).toEqual([
    ['tab\t line\n back\\ cr\r', 'pg_class'],
    [null, null],
    ['\\N', '-'],
    ['', 'pg_class'],
  ]);
  const first = await read(server, version, { columns: ['a'] });
  expect(first.rows.map(isNullField)).toEqual([false, true, false, false]);
  const binary = await read(server, version, { columns: ['The "b'], format: 'binary' });
  expect(
    binary.rows.flatMap((row) => splitBinaryRow(row).map((field) => field && Buffer.from(field).readUInt32BE())),
  ).toEqual([1259, null, 0, 1259]);
  await expect(read(server, version, { name: 'v' })).rejects.toMatchObject({ code: '42809' });
  await expect(read(server, version, { name: 'p' })).rejects.toMatchObject({ code: '42809' });
});

test('a search ends with the first row that is found, and at its limits', async () => {
  const server = await startPostgres({
    version: 17,
    setup: ['CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 1000000) g'],
  });
  const attempt = async (
    visit: (row: Uint8Array) => boolean,
    more: Partial<typeof limits> = {},
    statement: readonly string[] = [],
  ) => {
    const session = await connectPostgresql(postgresEndpointOf(server), { dbname: 'postgres', limit: 10_000 });
    const text = readOnlySql([...statement, 'COPY public.t TO STDOUT']);
    try {
      return await readRows(session, text, visit, { time: 30_000, bytes: 100_000_000, ...more });
    } finally {
      await session.end();
    }
  };
  let rows = 0;
  expect(await attempt(() => ++rows === 3)).toBe('stopped');
  expect(rows).toBe(3);
  expect(await attempt(() => false)).toBe('complete');
  expect(await attempt(() => false, { bytes: 1000 })).toBe('limit');
  expect(await attempt(() => false, { time: 200 }, ['DO $$BEGIN PERFORM pg_sleep(20); END$$'])).toBe('limit');
});
