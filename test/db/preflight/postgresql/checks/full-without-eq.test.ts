import { expect, test } from 'vitest';
import { fullWithoutEqCheck } from '../../../../../src/db/preflight/postgresql/checks/full-without-eq.ts';
import type {
  IncomparableColumn,
  UnsafeIdentity,
} from '../../../../../src/db/preflight/postgresql/queries/replica-identities.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText, expectText } from '../expect-text.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

function identityOf(more: Partial<UnsafeIdentity> = {}): UnsafeIdentity {
  return {
    name: 'public.t',
    identity: 'd',
    unlogged: false,
    keyed: false,
    index: undefined,
    generatedKey: false,
    generated: false,
    primaryUsable: false,
    usableIndex: undefined,
    writes: 1,
    olderThanCounters: false,
    parent: undefined,
    perhaps: [],
    rows: 0,
    indexed: false,
    ...more,
  };
}

const counters = { seconds: 10 * 86_400, since: '2026-11-01 08:00:00', start: 0, sinceCreation: false };

const doc: IncomparableColumn = { table: 'public.t', column: 'doc json' };

function evaluate(
  tables: readonly UnsafeIdentity[],
  version = 170_010,
  unequalColumns: readonly IncomparableColumn[] = [],
  looseColumns: readonly IncomparableColumn[] = [],
  targetVersion?: string,
) {
  const where = sourceFacts({ connection: connected({ version }) });
  const facts = { identities: tables, unequalColumns, missedColumns: [], looseColumns, counters };
  return fullWithoutEqCheck.evaluate(
    facts,
    'd1',
    where,
    preflightOptions(targetVersion === undefined ? {} : { targetVersion }),
  );
}

test.each([
  { what: 'FULL, without equality', is: { identity: 'f' }, verdict: 'fail continuous' },
  { what: 'FULL, with a key', is: { identity: 'f', keyed: true }, verdict: 'pass' },
  { what: 'FULL, unlogged', is: { identity: 'f', unlogged: true }, verdict: 'pass' },
  { what: 'no FULL', is: {}, verdict: 'pass' },
])('equality, $what: $verdict', ({ is, verdict }) => {
  expect(short(evaluate([identityOf(is)], 170_010, [doc]))).toBe(verdict);
});

test('the type without equality is named as the server names it', () => {
  const unequal = [{ table: 'public.t', column: '"the "" doc" json[]' }];
  const full = evaluate([identityOf({ identity: 'f' })], 170_010, unequal);
  expectText(full.detail);
});

test.each([
  { what: 'without a key', is: { identity: 'f' }, verdict: 'unknown' },
  { what: 'with a key', is: { identity: 'f', keyed: true }, verdict: 'pass' },
  { what: 'with a unique index', is: { identity: 'f', usableIndex: 'i' }, verdict: 'pass' },
])('values that are equal and not the same, in a table $what: $verdict', ({ is, verdict }) => {
  const outcome = evaluate([identityOf(is)], 170_010, [], [{ table: 'public.t', column: 'n numeric' }]);
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectText(outcome.detail);
});

const large = { identity: 'f', rows: 2_000_000, writes: 1_000_000 };

test.each([
  { what: 'few changes', is: { writes: 100_000 }, verdict: 'pass' },
  { what: 'many changes', is: {}, verdict: 'unknown' },
  { what: 'changes that nobody counts', is: { writes: undefined }, verdict: 'unknown' },
  { what: 'few rows', is: { rows: 50_000 }, verdict: 'pass' },
  { what: 'a key', is: { keyed: true }, verdict: 'pass' },
  { what: 'an index', is: { indexed: true }, verdict: 'pass' },
  { what: 'an index that the target does not use', is: { indexed: true }, target: '15', verdict: 'unknown' },
  { what: 'another replica identity', is: { identity: 'd' }, verdict: 'pass' },
])('a large table with REPLICA IDENTITY FULL and $what: $verdict', ({ is, target, verdict }) => {
  const outcome = evaluate([identityOf({ ...large, ...is })], 170_010, [], [], target);
  expect(short(outcome)).toBe(verdict);
  if (verdict === 'unknown' && target === undefined) expectOutcomeText(outcome);
});

test('one change each second is assumed when the counters are younger than a day', () => {
  const facts = { unequalColumns: [], missedColumns: [], looseColumns: [] };
  const young = { ...counters, seconds: 60 };
  const judge = (rows: number) => {
    const values = { ...facts, identities: [identityOf({ ...large, rows, writes: 30 })], counters: young };
    return short(fullWithoutEqCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions()));
  };
  expect(judge(2_000_000)).toBe('unknown');
  expect(judge(500_000)).toBe('pass');
});

test('rows that may be confused, and a large table', () => {
  const outcome = evaluate([identityOf(large)], 170_010, [], [{ table: 'public.t', column: 'n numeric' }]);
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
});

test.each([
  { target: '15', verdict: 'pass' },
  { target: '16', verdict: 'fail continuous' },
  { target: undefined, verdict: 'fail continuous' },
])('an index with a generated column, for a target of version $target: $verdict', ({ target, verdict }) => {
  const missedColumns = [
    { table: 'public.t', column: 'g', index: 'public.t_ag', why: 'generated' as const, rows: 'violate' as const },
  ];
  const facts = {
    identities: [identityOf({ identity: 'f' })],
    unequalColumns: [],
    missedColumns,
    looseColumns: [],
    counters,
  };
  const options = preflightOptions(target === undefined ? {} : { targetVersion: target });
  const outcome = fullWithoutEqCheck.evaluate(facts, 'd1', sourceFacts(), options);
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectText(`${outcome.headline}: ${outcome.detail} ${outcome.fix?.text}`);
});

test.each([14, 18] as const)(
  'columns with such values are found on PostgreSQL %i, and the query counts rows',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    for (const statement of [
      'CREATE EXTENSION citext',
      "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      'CREATE DOMAIN money2 AS numeric(10,2)',
      'CREATE TABLE "The T" (a numeric, b numeric(10,2), c citext[], d text COLLATE ci, e interval, f text, g money2, h jsonb, i float8, t int)',
      // The owner of the table can give its rows another text.
      `CREATE FUNCTION same("The T") RETURNS text LANGUAGE sql AS $$SELECT 'same'$$`,
      'CREATE CAST ("The T" AS text) WITH FUNCTION same("The T")',
      'ALTER TABLE "The T" REPLICA IDENTITY FULL',
      `INSERT INTO "The T" (a, f) VALUES (1.0, 'x'), (1.00, 'x'), (1.0, 'x'), (2, 'y'), (2, 'y')`,
      'CREATE TABLE keyed (id int PRIMARY KEY, a numeric)',
      'ALTER TABLE keyed REPLICA IDENTITY FULL',
    ]) {
      await server.query(statement);
    }
    const { status, objects, detail } = await found(
      await preflightServer({ ...server, options: { targetVersion: '18' } }),
      'full-without-eq',
    );
    expect({ status, objects }).toEqual({
      status: 'unknown',
      objects: ['a numeric', 'c public.citext[]', 'd text', 'e interval', 'h jsonb'].map(
        (one) => `public."The T" (${one})`,
      ),
    });
    const query = /: (SET search_path.* q);/.exec(detail ?? '')?.[1] ?? '';
    expect(await server.query(query)).toEqual([{ count: '1' }]);
  },
  60_000,
);
