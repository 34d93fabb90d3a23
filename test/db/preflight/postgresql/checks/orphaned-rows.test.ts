import { expect, test } from 'vitest';
import { orphanedRowsCheck } from '../../../../../src/db/preflight/postgresql/checks/orphaned-rows.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const orphan = { name: 'fk', table: 'public.c', parent: 'public.p', columns: ['p'], parentColumns: ['id'], rows: 2 };
const once = { name: 'fk on c', isDisabled: false, mayHaveOrphans: true };
const now = { name: 'fk on c', isDisabled: true, mayHaveOrphans: true };
const uncompared = { name: 'fk', table: 'public.c', reason: 'type' } as const;

test.each([
  { what: 'rows without their parents', scan: { orphans: [orphan] }, verdict: 'fail dump' },
  { what: 'a key that was not compared', scan: { uncomparedForeignKeys: [uncompared] }, verdict: 'info' },
  { what: 'rows that fit', scan: { comparedForeignKeys: 3 }, verdict: 'pass' },
])('$what: $verdict', ({ scan, verdict }) => {
  const outcome = orphanedRowsCheck.evaluate({ switchedOff: [], setters: [] }, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

test.each([
  { what: 'a continuous migration', method: 'continuous', switchedOff: [once], verdict: 'skip' },
  { what: 'a dump of a database whose keys were always checked', method: 'dump', switchedOff: [], verdict: 'skip' },
  { what: 'a dump of one whose keys were not', method: 'dump', switchedOff: [once], verdict: 'unknown' },
  { what: 'keys that are not enforced', method: 'continuous', switchedOff: [now], verdict: 'warn' },
] as const)('without --deep, $what: $verdict', ({ method, switchedOff, verdict }) => {
  const outcome = orphanedRowsCheck.evaluate(
    { switchedOff, setters: [] },
    'd1',
    sourceFacts(),
    preflightOptions({ method }),
  );
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'skip') expectOutcomeText(outcome);
});

const schema = [
  'CREATE TABLE p (id int PRIMARY KEY, a text, b int, UNIQUE (a, b))',
  'CREATE TABLE "The C" (id int PRIMARY KEY, p bigint REFERENCES p, a varchar(9), b int, FOREIGN KEY (a, b) REFERENCES p (a, b))',
  'CREATE TABLE self (id int PRIMARY KEY, up int REFERENCES self)',
  'CREATE TABLE parts (k int PRIMARY KEY) PARTITION BY RANGE (k)',
  'CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10)',
  'CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20)',
  'CREATE TABLE to_parts (id int PRIMARY KEY, k int REFERENCES parts)',
  "INSERT INTO p VALUES (1, 'x\ty', 1), (2, NULL, 2)",
  `INSERT INTO "The C" VALUES (1, 1, 'x\ty', 1), (2, NULL, NULL, 5), (3, 2, 'q', NULL)`,
  'INSERT INTO self VALUES (1, 1), (2, 1), (3, NULL)',
  'INSERT INTO parts VALUES (5), (15)',
  'INSERT INTO to_parts VALUES (1, 5), (2, 15)',
];
const deep = { bytesPerSecond: 1e9, timeout: undefined };

test.each([14, 18] as const)(
  'rows that a foreign key did not see are found on PostgreSQL %i, and no others',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    for (const statement of schema) await server.query(statement);
    const options = { method: 'dump', deep, targetVersion: '18' } as const;
    const before = await preflightServer({ ...server, options });
    expect(found(before, 'orphaned-rows').status).toBe('pass');
    expect(before.methods.dump).toBe(true);
    await server.query(
      `SET session_replication_role = replica; INSERT INTO "The C" VALUES (7, 99, NULL, NULL), (8, 98, 'no', 1); INSERT INTO to_parts VALUES (3, 7)`,
    );
    const after = await preflightServer({ ...server, options });
    expect(found(after, 'orphaned-rows')).toMatchObject({ status: 'fail', blocks: ['dump'] });
    expect(found(after, 'orphaned-rows').objects?.map((one) => one.replace(/ \(.*/, ''))).toEqual([
      '"The C_a_b_fkey" on public."The C"',
      '"The C_p_fkey" on public."The C"',
      'to_parts_k_fkey on public.to_parts',
    ]);
    expect(after.ok).toBe(false);
    const queries = found(after, 'orphaned-rows').detail?.match(/SELECT \* [^;]*/g) ?? [];
    const counts = await Promise.all(queries.map(async (query) => (await server.query(query)).length));
    expect(counts).toEqual([1, 2, 1]);
  },
);

test('without --deep the report names triggers that were off, and grants, of this database alone', async () => {
  const server = await startPostgres({ version: 16, settings: ready });
  await server.query('CREATE TABLE p (id int PRIMARY KEY)');
  await server.query('CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p)');
  const run = () => preflightServer({ ...server, options: { method: 'dump', targetVersion: '18' } });
  expect(found(await run(), 'orphaned-rows').status).toBe('skip');
  await server.query('ALTER TABLE c RENAME CONSTRAINT c_p_fkey TO "The Key"');
  expect(found(await run(), 'orphaned-rows').status).toBe('skip');
  await server.query('ALTER TABLE c DISABLE TRIGGER ALL; ALTER TABLE c ENABLE TRIGGER ALL');
  expect(found(await run(), 'orphaned-rows')).toMatchObject({ status: 'unknown', objects: ['"The Key" on public.c'] });
  await server.query('DROP TABLE c');
  await server.query('CREATE ROLE app; GRANT SET ON PARAMETER session_replication_role TO app');
  expect(found(await run(), 'orphaned-rows')).toMatchObject({
    status: 'unknown',
    objects: [expect.stringContaining('app')],
  });
});

test('constraints whose triggers do not fire are named, because the target enforces them', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TABLE p (id int PRIMARY KEY, n int UNIQUE DEFERRABLE)',
    'CREATE TABLE c (id int PRIMARY KEY, p int CONSTRAINT first REFERENCES p, q int CONSTRAINT second REFERENCES p)',
  ]) {
    await server.query(statement);
  }
  const outcome = async (options = {}) =>
    found(await preflightServer({ ...server, options: { targetVersion: '17', ...options } }), 'orphaned-rows');
  expect((await outcome()).status).toBe('skip');
  await server.query('ALTER TABLE p DISABLE TRIGGER ALL');
  const expected = { status: 'warn', objects: ['first on public.c', 'p_n_key on public.p', 'second on public.c'] };
  expect(await outcome()).toMatchObject(expected);
  expect(await outcome({ deep })).toMatchObject(expected);
  await server.query('ALTER TABLE p ENABLE TRIGGER ALL');
  expect((await outcome()).status).toBe('skip');
}, 60_000);
