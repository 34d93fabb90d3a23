import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sequenceScript, sequencesQuery } from '../../../../../src/db/cutover/postgresql/sequences.ts';
import { sequencesCheck } from '../../../../../src/db/preflight/postgresql/checks/sequences.ts';
import { quoteLiteral } from '../../../../../src/postgresql/quote.ts';
import { sequenceStateQuery } from '../../../../../src/postgresql/sequence-state.ts';
import { type Postgres, startPostgres } from '../../../../fixtures/postgres.ts';
import { overviewOf, preflightOptions, short, sourceFacts } from '../facts.ts';
import { queryRows } from '../query-rows.ts';

test.each([
  { sequences: 0, method: 'continuous', verdict: 'pass', lost: undefined },
  { sequences: 3, method: 'continuous', verdict: 'warn', lost: 'the values of 3 sequences' },
  { sequences: 3, method: 'dump', verdict: 'info', lost: undefined },
] as const)('$sequences sequences for $method: $verdict', ({ sequences: number, method, verdict, lost }) => {
  const facts = { overview: overviewOf({ sequences: number }) };
  const outcome = sequencesCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ method }));
  expect(short(outcome)).toBe(verdict);
  expect(outcome.dataLoss).toBe(lost);
});

/** Names that have broken somebody's script. */
const odd = [
  'plain',
  'My Seq',
  `it's`,
  'a"b',
  'back\\slash',
  'dot.dot',
  'näme 名前 🐘',
  'a'.repeat(63),
  '$$',
  "'; DROP",
];

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  let server: Postgres;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      setup: ["CREATE ROLE bare LOGIN PASSWORD 'secret'", 'CREATE DATABASE source', 'CREATE DATABASE target'],
    });
    const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
    const shape = [
      `CREATE SCHEMA ${identifier('Sch"ema.x')}`,
      ...odd.map((name) => `CREATE SEQUENCE ${identifier('Sch"ema.x')}.${identifier(name)}`),
      'CREATE SEQUENCE never START 7',
      'CREATE SEQUENCE moved START 7',
      'CREATE SEQUENCE back INCREMENT -1',
      'CREATE SEQUENCE small AS smallint MAXVALUE 5 CYCLE',
      'CREATE SEQUENCE vast MAXVALUE 9223372036854775807',
      'CREATE SEQUENCE cached CACHE 20',
      'CREATE TABLE t (a int GENERATED ALWAYS AS IDENTITY, b serial)',
    ].join('; ');
    await server.query(shape, 'source');
    await server.query(shape, 'target');
    const used = odd.map((name, at) => {
      const qualified = `${identifier('Sch"ema.x')}.${identifier(name)}`;
      return `SELECT setval(${quoteLiteral(qualified)}, ${at + 10})`;
    });
    const moves = [
      'ALTER SEQUENCE moved RESTART 500',
      "SELECT nextval('back'), nextval('back'), nextval('small'), nextval('cached')",
      "SELECT setval('vast', 9223372036854775806)",
      'INSERT INTO t DEFAULT VALUES; INSERT INTO t DEFAULT VALUES',
    ];
    await server.query([...used, ...moves].join('; '), 'source');
  }, 60_000);
  afterAll(() => server?.stop());

  const script = async (user?: string) => {
    const sql = sequencesQuery.sql(version * 10_000, { inRecovery: false, superuser: user === undefined }) ?? '';
    return sequenceScript(sequencesQuery.decode(await queryRows(server, 'source', sql, user)));
  };

  test('the statements set the target to the values of the source, whatever the names of the sequences', async () => {
    const { statements, hidden, unused } = await script();
    expect(hidden).toEqual([]);
    for (const statement of statements) await server.query(statement, 'target');
    // What the warning asks the owner to do.
    for (const name of unused) {
      const [state] = await server.query(sequenceStateQuery(name), 'source');
      await server.query(`SELECT setval('${name}', ${state?.last_value}, ${state?.is_called})`, 'target');
    }
    const values = async (database: string) => {
      const found = await server.query('SELECT oid::regclass AS name FROM pg_class WHERE relkind = $$S$$', database);
      const all: Record<string, unknown> = {};
      for (const { name } of found) {
        all[`${name}`] = await server.query(`SELECT last_value, is_called FROM ${name}`, database);
      }
      return all;
    };
    const source = await values('source');
    expect(Object.keys(source)).toHaveLength(odd.length + 8);
    expect(await values('target')).toEqual(source);
  });

  test('an unused sequence needs no statement, unless its value was changed; before 18 it is not known', async () => {
    const { statements, unused } = await script();
    expect(statements.filter((statement) => statement.includes('never'))).toEqual([]);
    const moved = `SELECT pg_catalog.setval('"public"."moved"', 500, false);`;
    if (version >= 18) expect(statements).toContain(moved);
    expect(unused).toEqual(version >= 18 ? [] : ['public.moved', 'public.never']);
    expect(statements).toContain(`SELECT pg_catalog.setval('"public"."vast"', 9223372036854775806, true);`);
    expect(statements).toContain(`SELECT pg_catalog.setval('"public"."t_a_seq"', 2, true);`);
  });

  test('what a role may not read is named and not passed over', async () => {
    await server.query('GRANT SELECT ON SEQUENCE moved TO bare; GRANT USAGE ON SEQUENCE small TO bare', 'source');
    const { statements, hidden } = await script('bare');
    expect(statements).toEqual([
      ...(version >= 18 ? [`SELECT pg_catalog.setval('"public"."moved"', 500, false);`] : []),
      `SELECT pg_catalog.setval('"public"."small"', 1, true);`,
    ]);
    expect(hidden).toHaveLength(odd.length + 6);
    expect(hidden).toContain('public.never');
  });
});
