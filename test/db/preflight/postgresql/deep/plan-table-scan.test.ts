import { describe, expect, test } from 'vitest';
import { planScan } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';
import { uniqueIndexesQuery } from '../../../../../src/db/preflight/postgresql/queries/constraints.ts';
import { scannedTablesQuery } from '../../../../../src/db/preflight/postgresql/queries/tables.ts';
import { startPostgres } from '../../../../fixtures/postgres.ts';
import { queryRows } from '../query-rows.ts';

const context = { inRecovery: false, superuser: true };

describe.each([14, 17, 18] as const)('PostgreSQL %i', (version) => {
  test('keys are compared only where equal values have equal texts', async () => {
    const server = await startPostgres({
      version,
      setup: [
        'CREATE DOMAIN number AS int',
        'CREATE DOMAIN amount AS numeric(9,2)',
        "CREATE TYPE mood AS ENUM ('a')",
        'CREATE TYPE pair AS (a int, b int)',
        "CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false)",
        'CREATE OPERATOR CLASS own FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int4, int4)',
        `CREATE TABLE t (
          i int, s smallint, l bigint, d number, t text, v varchar(9), c char(9), n numeric(9,2), b bytea, u uuid, m mood,
          bo bool, da date, ti time, ts timestamp, tz timestamptz, ip inet, ci cidr, ma macaddr, bi bit(3), na name, o oid,
          f float8, nu numeric, am amount, iv interval, j jsonb, a int[], r int4range, p pair, tt timetz, lo text COLLATE loose,
          ge int GENERATED ALWAYS AS (i + 1) STORED)`,
        ...[
          'i',
          's',
          'l',
          'd',
          't',
          'v',
          'c',
          'n',
          'b',
          'u',
          'm',
          'bo',
          'da',
          'ti',
          'ts',
          'tz',
          'ip',
          'ci',
          'ma',
          'bi',
          'na',
          'o',
        ]
          .concat(['f', 'nu', 'am', 'iv', 'j', 'a', 'r', 'p', 'tt', 'lo', 'ge'])
          .map((column) => `CREATE UNIQUE INDEX of_${column} ON t (${column})`),
        'CREATE UNIQUE INDEX of_own ON t (i own)',
        'CREATE UNIQUE INDEX of_pattern ON t (t text_pattern_ops)',
        'CREATE UNIQUE INDEX of_expression ON t (i, lower(t))',
        'CREATE UNIQUE INDEX of_part ON t (i) WHERE i > 0',
        'CREATE UNIQUE INDEX of_several ON t (u, i, s) INCLUDE (f)',
        'CREATE INDEX plain ON t (i)',
        'CREATE TABLE other (id int PRIMARY KEY)',
        ...(version >= 15 ? ['CREATE UNIQUE INDEX of_null ON t (i) NULLS NOT DISTINCT'] : []),
      ],
    });
    const read = async (sql: string | undefined) => queryRows(server, 'postgres', sql ?? '');
    const tables = scannedTablesQuery.decode(await read(scannedTablesQuery.sql(version * 10_000, context)));
    const indexes = uniqueIndexesQuery.decode(await read(uniqueIndexesQuery.sql(version * 10_000, context)));
    const table = tables.find(({ name }) => name === 't')!;
    expect(table).toMatchObject({ table: 'public.t', schema: 'public', isSecured: false });
    const own = indexes.filter((index) => index.table === table.oid);
    expect(indexes.length).toBe(own.length + 1);
    const plan = planScan(table, own);
    const short = (index: string) => index.replace('public.of_', '');
    expect(Object.fromEntries(plan.unchecked.map(({ index, reason }) => [short(index), reason]))).toEqual({
      ...Object.fromEntries(['f', 'nu', 'am', 'iv', 'j', 'a', 'r', 'p', 'tt'].map((name) => [name, 'type'])),
      lo: 'collation',
      ge: 'generated_column',
      own: 'operator_class',
      expression: 'expression',
      part: 'partial_index',
    });
    expect(plan.keys.map(({ index }) => short(index))).toEqual(
      own.map(({ index }) => short(index)).filter((name) => !plan.unchecked.some(({ index }) => short(index) === name)),
    );
    const several = plan.keys.find(({ index }) => short(index) === 'several')!;
    expect(several.names).toEqual(['u', 'i', 's']);
    expect(several.columns.map((column) => plan.columns[column])).toEqual(['u', 'i', 's']);
    expect(Math.max(...plan.keys.flatMap(({ columns }) => columns))).toBe(plan.keyColumns - 1);
    expect(plan.columns).toHaveLength(32);
    expect(new Set(plan.columns).size).toBe(32);
    expect(plan.keys.filter(({ nullsEqual }) => nullsEqual).map(({ index }) => short(index))).toEqual(
      version >= 15 ? ['null'] : [],
    );
  }, 60_000);
});
