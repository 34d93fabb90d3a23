import { describe, expect, test } from 'vitest';
import {
  type CountersStart,
  replicaIdentityCheck,
} from '../../../../../src/db/preflight/postgresql/checks/replica-identity.ts';
import type { BodyStatement } from '../../../../../src/db/preflight/postgresql/queries/body-statements.ts';
import type { InstanceIdentity } from '../../../../../src/db/preflight/postgresql/queries/cluster.ts';
import type {
  IncomparableColumn,
  UnsafeIdentity,
} from '../../../../../src/db/preflight/postgresql/queries/replica-identities.ts';
import { expectGolden } from '../../../../fixtures/golden.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { eventually } from '../../../../fixtures/redis.ts';
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

const doc: IncomparableColumn = { table: 'public.t', column: 'doc json' };

function evaluate(
  tables: readonly UnsafeIdentity[],
  version = 170_010,
  unequalColumns: readonly IncomparableColumn[] = [],
  counters: CountersStart = { seconds: 90_000, since: '2026-11-01 08:00:00', start: 0, sinceCreation: false },
  server?: InstanceIdentity,
  bodies: readonly BodyStatement[] = [],
) {
  const where = sourceFacts({ connection: connected({ version }) });
  const facts = { identities: tables, unequalColumns, missedColumns: [], counters, bodies, server };
  return replicaIdentityCheck.evaluate(facts, 'd1', where, preflightOptions());
}

test.each([
  { what: 'written', is: {}, verdict: 'fail continuous' },
  { what: 'never written', is: { writes: 0 }, verdict: 'warn' },
  { what: 'nobody counts', is: { writes: undefined }, verdict: 'fail continuous' },
  { what: 'unlogged', is: { unlogged: true }, verdict: 'pass' },
  { what: 'NOTHING', is: { identity: 'n', keyed: true }, verdict: 'fail continuous' },
  { what: 'an index that is gone', is: { identity: 'i' }, verdict: 'fail continuous' },
  { what: 'an index', is: { identity: 'i', keyed: true }, verdict: 'pass' },
  { what: 'FULL', is: { identity: 'f' }, verdict: 'pass' },
  { what: 'FULL with a generated column on 17', is: { identity: 'f', generated: true }, verdict: 'pass' },
  { what: 'a generated column beside the key', is: { keyed: true, generated: true }, verdict: 'pass' },
  { what: 'a generated column in the key', is: { keyed: true, generatedKey: true }, verdict: 'fail continuous' },
  {
    what: 'a generated column in the key, never written',
    is: { keyed: true, generatedKey: true, writes: 0 },
    verdict: 'fail continuous',
  },
  {
    what: 'FULL beside a generated column in the key, never written',
    is: { identity: 'f', keyed: true, generatedKey: true, writes: 0 },
    verdict: 'fail continuous',
  },
])('a table, $what: $verdict', ({ is, verdict }) => {
  expect(short(evaluate([identityOf(is)]))).toBe(verdict);
});

test.each([
  { tables: ['public.a'], observed: 'public.a' },
  { tables: ['public.a', 'public.b'], observed: '2 tables such as public.a' },
])('the row of a warning names $tables', ({ tables, observed }) => {
  const outcome = evaluate(tables.map((name) => identityOf({ name, writes: 0 })));
  expect(outcome).toMatchObject({ status: 'warn', headline: expect.any(String), observed });
});

test.each([
  { what: 'seconds old', counters: { seconds: 9, sinceCreation: false }, is: {}, verdict: 'fail continuous' },
  { what: 'a day old', counters: { seconds: 86_400, sinceCreation: false }, is: {}, verdict: 'warn' },
  { what: 'as old as the database', counters: { seconds: 9, sinceCreation: true }, is: {}, verdict: 'warn' },
  {
    what: 'as old as the database, and younger than the rows',
    counters: { seconds: 9, sinceCreation: true },
    is: { olderThanCounters: true },
    verdict: 'fail continuous',
  },
  { what: 'of unknown age', counters: { seconds: undefined, sinceCreation: false }, is: {}, verdict: 'warn' },
])('no write was counted, and the counters are $what: $verdict', ({ counters, is, verdict }) => {
  const since = '2026-11-22 08:00:00';
  const outcome = evaluate([identityOf({ writes: 0, ...is })], 170_010, [], { since, start: 0, ...counters });
  expect(short(outcome)).toBe(verdict);
  if (counters.seconds === 9) expectText(`${outcome.observed}: ${outcome.detail}`);
});

test.each([
  { what: 'as old as the server', start: 1_700_000_010, identifier: '7301444403200000001', verdict: 'warn' },
  { what: 'younger', start: 1_700_009_000, identifier: '7301444403200000001', verdict: 'fail continuous' },
  { what: 'of a server without a number', start: 1_700_000_010, identifier: 'x', verdict: 'fail continuous' },
])('counters that are $what: $verdict', ({ start, identifier, verdict }) => {
  const counters = { seconds: 9, since: '2023-11-14 22:13:30', start, sinceCreation: false };
  const value = { systemIdentifier: identifier, inRecovery: false, started: 0, readAt: 0 };
  const outcome = evaluate([identityOf({ writes: 0 })], 170_010, [], counters, value);
  expect(short(outcome)).toBe(verdict);
});

const open: readonly { readonly what: string; readonly is: Partial<UnsafeIdentity>; readonly verdict: string }[] = [
  {
    what: 'rows that it refers to are deleted',
    is: { parent: { name: 'public.p', deletes: 2 } },
    verdict: 'fail continuous',
  },
  { what: 'upserts are possible', is: { perhaps: ['upsert'] }, verdict: 'unknown' },
  { what: 'keys that it refers to may change', is: { perhaps: ['key'] }, verdict: 'unknown' },
  { what: 'both', is: { perhaps: ['upsert', 'key'] }, verdict: 'unknown' },
  { what: 'a chain of foreign keys leads to deleted rows', is: { perhaps: ['chain'] }, verdict: 'unknown' },
  { what: 'rows of another child of its parent are changed', is: { perhaps: ['kin'] }, verdict: 'unknown' },
  { what: 'a rule deletes from it', is: { perhaps: ['rule'] }, verdict: 'unknown' },
];

test.each(open)('no write of the table was counted, but $what: $verdict', ({ is, verdict }) => {
  const outcome = evaluate([identityOf({ writes: 0, name: 'public.quiet' }), identityOf({ writes: 0, ...is })]);
  expect(short(outcome)).toBe(verdict);
  expect(outcome.objects?.[0]).toMatch(/^public\.t /);
  expectOutcomeText(outcome);
});

test('a function deletes rows of a table without a counted write: not proven', () => {
  const bodies = [{ by: 'public.f()', verb: 'delete' as const, table: ['t'] }];
  const outcome = evaluate([identityOf({ writes: 0 })], 170_010, [], undefined, undefined, bodies);
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
  const other = [{ by: 'public.f()', verb: 'truncate' as const, table: ['t'] }];
  expect(short(evaluate([identityOf({ writes: 0 })], 170_010, [], undefined, undefined, other))).toBe('warn');
});

test('since 18 the source itself refuses, so that the counters tell', () => {
  const table = identityOf({ keyed: true, generated: true, generatedKey: true, writes: 0 });
  expect(short(evaluate([table], 180_004))).toBe('warn');
});

test('since 18 FULL with a generated column fails on the source', () => {
  const table = identityOf({ identity: 'f', keyed: true, generated: true, primaryUsable: true });
  const identity = evaluate([table], 180_004);
  expect(short(identity)).toBe('fail continuous');
  expectText(identity.detail);
  expect(identity.fix).toMatchObject({
    sql: ['ALTER TABLE "public"."t" REPLICA IDENTITY DEFAULT'],
    undo: ['ALTER TABLE "public"."t" REPLICA IDENTITY FULL'],
  });
});

test.each([
  { what: 'nothing else', is: {}, sql: 'FULL', undo: 'DEFAULT' },
  { what: 'a unique index', is: { usableIndex: '"I x"' }, sql: 'USING INDEX "I x"', undo: 'DEFAULT' },
  { what: 'a key', is: { identity: 'n', primaryUsable: true, usableIndex: 'i' }, sql: 'DEFAULT', undo: 'NOTHING' },
  { what: 'an index gone', is: { identity: 'i' }, sql: 'FULL', undo: 'NOTHING' },
  {
    what: 'an index that serves no more',
    is: { identity: 'i', keyed: true, generatedKey: true, index: 'old', usableIndex: 'new' },
    sql: 'USING INDEX "new"',
    undo: 'USING INDEX "old"',
  },
])('the fix for a table with $what', ({ is, sql, undo }) => {
  expect(evaluate([identityOf(is)]).fix).toMatchObject({
    sql: [expect.stringContaining(`ALTER TABLE "public"."t" REPLICA IDENTITY ${sql}`)],
    undo: [expect.stringContaining(`ALTER TABLE "public"."t" REPLICA IDENTITY ${undo}`)],
    database: 'd1',
  });
});

test.each([{}, { usableIndex: 'i' }])('the effect of each statement is simulated: %j', (is) => {
  const { fix } = evaluate([identityOf(is)]);
  expectGolden('db-preflight', fix?.by ?? '');
  expect(fix).toMatchObject({ effects: [expect.anything()] });
  expect(fix).not.toHaveProperty('notSimulated');
});

test.each([
  { what: 'a column without equality', is: {}, version: 170_010, unequal: [doc] },
  { what: 'a generated column in the key', is: { keyed: true, generatedKey: true }, version: 170_010, unequal: [] },
  { what: 'a generated column on 18', is: { generated: true }, version: 180_004, unequal: [] },
])('FULL is no fix for a table with $what', ({ is, version, unequal }) => {
  const { fix } = evaluate([identityOf(is)], version, unequal);
  expect(fix?.sql).toEqual([]);
  expect(fix?.text).toContain('public.t');
});

test('the quoted error contains the name as the server writes it', () => {
  const said = (name: string) => evaluate([identityOf({ name })]).detail;
  expectText(said('public.t'));
  expectText(said('"My.Schema"."a ""b"'));
});

test('written tables come first, and what does not fit is counted', () => {
  const quiet = Array.from({ length: 30 }, (_, at) => identityOf({ name: `public.q${at}`, writes: 0 }));
  const identity = evaluate([...quiet, identityOf({ name: 'public.busy', writes: 7 })]);
  expect(identity.objects).toHaveLength(20);
  expect(identity.objects?.[0]).toMatch(/^public\.busy \(/);
  expectText(identity.observed);
  expectText(identity.detail);
  expectText(identity.objects?.[0]);
  expect(identity.detail).toContain('public.busy 7');
  expect(identity.fix?.sql).toHaveLength(31);
});

test('the text mentions statements only if there are some', () => {
  expectText(evaluate([identityOf()], 170_010, [doc]).fix?.text);
  expectText(evaluate([identityOf()]).fix?.text);
});

describe.each([14, 15, 18] as const)(
  'on PostgreSQL %i, a table without a key is a blocker although no write was counted',
  (version) => {
    const start = async () => {
      const server = await startPostgres({ version, settings: ready, setup: ['CREATE DATABASE d1'] });
      await server.query('CREATE TABLE t (a int)', 'd1');
      const outcome = async () => short(found(await preflightServer(server), 'replica-identity', 'd1'));
      expect(await outcome()).toBe('warn');
      await server.query('INSERT INTO t VALUES (1)', 'd1');
      await server.query('UPDATE t SET a = 2', 'd1');
      await eventually(async () => (await outcome()) === 'fail continuous', 'the counters');
      return { server, outcome };
    };

    test('after pg_stat_reset()', async () => {
      const { server, outcome } = await start();
      await server.query('SELECT pg_stat_reset()', 'd1');
      expect(await outcome()).toBe('fail continuous');
    }, 60_000);

    test('after a crash', async () => {
      const { server, outcome } = await start();
      const before = server.log().length;
      await server.query("COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'").catch(() => {});
      // Until the server notices the crash, it still takes connections.
      await eventually(() => server.log().slice(before).includes('reinitializing'), 'the crash in the log');
      await eventually(
        () =>
          server.query('SELECT 1').then(
            () => true,
            () => false,
          ),
        'the recovery',
      );
      expect(await outcome()).toBe('fail continuous');
    }, 60_000);

    test('but not after a restart that keeps the counters', async () => {
      const server = await startPostgres({ version, settings: ready, setup: ['CREATE TABLE t (a int)'] });
      await server.query('INSERT INTO t VALUES (1)');
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await server.restart();
      expect(short(found(await preflightServer(server), 'replica-identity'))).toBe('warn');
    }, 60_000);
  },
);

test.each([14, 18] as const)(
  'a table without a key follows deletions of a table whose rows were not counted (PostgreSQL %i)',
  async (version) => {
    const server = await startPostgres({ version, settings: ready, setup: ['CREATE DATABASE d1'] });
    await server.query('CREATE TABLE p (id int PRIMARY KEY)', 'd1');
    await server.query('CREATE TABLE t (p int REFERENCES p ON DELETE CASCADE)', 'd1');
    const outcome = async () => short(found(await preflightServer(server), 'replica-identity', 'd1'));
    expect(await outcome()).toBe('warn');
    await server.query('SET track_counts = off; INSERT INTO p VALUES (1), (2); DELETE FROM p WHERE id = 1', 'd1');
    expect(await outcome()).toBe('fail continuous');
  },
  60_000,
);
