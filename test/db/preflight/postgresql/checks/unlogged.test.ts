import { expect, test } from 'vitest';
import { sortReferencedFirst, unloggedCheck } from '../../../../../src/db/preflight/postgresql/checks/unlogged.ts';
import type { BodyStatement } from '../../../../../src/db/preflight/postgresql/queries/body-statements.ts';
import type { UnloggedKey } from '../../../../../src/db/preflight/postgresql/queries/constraints.ts';
import { unusualRelationsQuery } from '../../../../../src/db/preflight/postgresql/queries/relations.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { relations } from '../database-cases.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const outward: UnloggedKey = {
  ...{ from: 'public.c', to: 'public.p', logged: true },
  ...{ emptiedWith: ['public.p', 'public.root'], truncated: false },
};

const emptying: BodyStatement = { by: 'public.empty()', verb: 'truncate', table: ['root'] };

test.each([
  { what: 'another unlogged table', is: { logged: false }, version: 170_010, bodies: [emptying], verdict: 'warn' },
  { what: 'a table that was never truncated', is: {}, version: 170_010, bodies: [], verdict: 'warn' },
  { what: 'one that a function truncates', is: {}, version: 170_010, bodies: [emptying], verdict: 'unknown' },
  {
    ...{ what: 'a table that was truncated', is: { truncated: true }, version: 170_010 },
    ...{ bodies: [], verdict: 'fail continuous' },
  },
  { what: 'one that was, on 10', is: { truncated: true }, version: 100_023, bodies: [emptying], verdict: 'warn' },
])('an unlogged table refers to $what: $verdict', ({ is, version, bodies, verdict }) => {
  const facts = {
    relations: { ...unusualRelationsQuery.absent, unlogged: ['public.c'] },
    identities: [],
    unequalColumns: [],
    missedColumns: [],
    unloggedReferences: [{ ...outward, ...is }],
    bodies,
  };
  const outcome = unloggedCheck.evaluate(
    facts,
    'd1',
    sourceFacts({ connection: connected({ version }) }),
    preflightOptions(),
  );
  expect(short(outcome)).toBe(verdict);
  expectText(outcome.dataLoss);
});

test('a truncated table is distinguished from a rewritten one', async () => {
  const server = await startPostgres({ version: 17, settings: ready });
  for (const database of ['emptied', 'anew']) {
    await server.query(`CREATE DATABASE ${database}`);
    for (const statement of [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE UNLOGGED TABLE c (id int PRIMARY KEY, p int REFERENCES p)',
      'INSERT INTO p SELECT generate_series(1, 10)',
      'INSERT INTO c VALUES (1, 1)',
      ...(database === 'emptied' ? ['TRUNCATE p CASCADE'] : ['VACUUM FULL p', 'VACUUM FULL c']),
    ]) {
      await server.query(statement, database);
    }
  }
  const report = await preflightServer(server);
  expect([found(report, 'unlogged', 'emptied').status, found(report, 'unlogged', 'anew').status]).toEqual([
    'fail',
    'warn',
  ]);
  for (const statement of found(report, 'unlogged', 'emptied').fix?.sql ?? []) await server.query(statement, 'emptied');
  expect(found(await preflightServer(server), 'unlogged', 'emptied').status).toBe('pass');
});

test('an unlogged table is made logged after those that it refers to, and given an identity before', () => {
  const values = {
    bodies: [],
    ...relations({ unlogged: ['public.a', 'public.b', 'public.c'] }),
    unequalColumns: [],
    missedColumns: [],
    unloggedReferences: [
      { from: 'public.a', to: 'public.b', logged: false, emptiedWith: [], truncated: false },
      { from: 'public.b', to: 'public.c', logged: false, emptiedWith: [], truncated: false },
    ],
    identities: [
      {
        name: 'public.a',
        identity: 'd',
        unlogged: true,
        keyed: false,
        index: undefined,
        generatedKey: false,
        generated: false,
        primaryUsable: false,
        usableIndex: undefined,
        writes: 0,
        olderThanCounters: false,
        parent: undefined,
        perhaps: [],
        rows: 0,
        indexed: false,
      },
    ],
  };
  const outcome = unloggedCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(outcome).toMatchObject({ status: 'warn', dataLoss: expect.stringContaining('3 ') });
  expect(outcome.fix).toMatchObject({
    sql: [
      'ALTER TABLE "public"."a" REPLICA IDENTITY FULL',
      'ALTER TABLE "public"."c" SET LOGGED',
      'ALTER TABLE "public"."b" SET LOGGED',
      'ALTER TABLE "public"."a" SET LOGGED',
    ],
    undo: [
      'ALTER TABLE "public"."a" SET UNLOGGED',
      'ALTER TABLE "public"."b" SET UNLOGGED',
      'ALTER TABLE "public"."c" SET UNLOGGED',
      'ALTER TABLE "public"."a" REPLICA IDENTITY DEFAULT',
    ],
  });
  const dump = unloggedCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ method: 'dump' }));
  expect([dump.status, dump.dataLoss]).toEqual(['info', undefined]);
});

test('a table that can have no usable identity stays unlogged, and so does what refers to it', () => {
  const table = {
    identity: 'd',
    unlogged: true,
    keyed: false,
    index: undefined,
    generatedKey: false,
    generated: false,
    primaryUsable: false,
    usableIndex: undefined,
    writes: 0,
    olderThanCounters: false,
    parent: undefined,
    perhaps: [],
    rows: 0,
    indexed: false,
  };
  const values = {
    bodies: [],
    ...relations({ unlogged: ['public.a', 'public.b', 'public.c', 'public.d', 'public.e'] }),
    unequalColumns: [{ table: 'public.b', column: 'doc json' }],
    missedColumns: [
      { table: 'public.c', column: 'n', index: 'public.c_n', why: 'null' as const, rows: 'violate' as const },
    ],
    unloggedReferences: [{ from: 'public.a', to: 'public.b', logged: false, emptiedWith: [], truncated: false }],
    identities: ['public.b', 'public.c', 'public.e'].map((name) => ({
      ...table,
      name,
      usableIndex: name === 'public.e' ? 'e_key' : undefined,
    })),
  };
  const outcome = unloggedCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(outcome.fix?.sql).toEqual([
    expect.stringContaining('ALTER TABLE "public"."e" REPLICA IDENTITY USING INDEX "e_key"'),
    'ALTER TABLE "public"."d" SET LOGGED',
    'ALTER TABLE "public"."e" SET LOGGED',
  ]);
  expect(outcome.fix?.text).not.toContain('public.e');
});

test('tables with cyclic references end the sort', () => {
  const circle = [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'a'],
  ].map(([from = '', to = '']) => ({ from, to, logged: false, emptiedWith: [], truncated: false }));
  expect(sortReferencedFirst(['a', 'b', 'c'], circle).toSorted()).toEqual(['a', 'b', 'c']);
});
