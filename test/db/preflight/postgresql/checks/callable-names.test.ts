import { expect, test } from 'vitest';
import { ambiguousCallableNamesCheck } from '../../../../../src/db/preflight/postgresql/checks/callable-names.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

test.each([
  { rows: [], verdict: 'pass' },
  { rows: ['fit'], verdict: 'info' },
  { rows: ['fit', 'unseen'], verdict: 'unknown' },
  { rows: ['unseen', 'violate'], verdict: 'fail continuous+dump' },
] as const)('columns whose rows $rows: $verdict', ({ rows, verdict }) => {
  const callableColumns = rows.map((one) => ({
    ...{ table: 'public.t', column: 'f', type: 'regproc', path: '', isInside: false, ambiguousNames: [], rows: one },
  }));
  expect(
    short(ambiguousCallableNamesCheck.evaluate({ callableColumns }, 'd1', sourceFacts(), preflightOptions())),
  ).toBe(verdict);
});

test('ambiguous names are found on a real server, the fix removes them, and undo restores them', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE DOMAIN op AS regoper',
    'CREATE TABLE "The Table" (id int PRIMARY KEY, "The F" regproc, fs regproc[], o regoper, os regoper[], d op, fine regproc)',
    "INSERT INTO \"The Table\" VALUES (1, 1395, '{1395}', 96, '{96}', 96, 'now'), (2, 0, NULL, 0, '{}', NULL, NULL)",
  ]) {
    await server.query(statement);
  }
  const before = found(await preflightServer(server), 'callable-names', 'postgres');
  expect(before).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
  expect(before.objects?.map((one) => one.split(' of ')[0])).toEqual(['"The F"', 'd', 'fs', 'o', 'os']);
  for (const statement of before.fix?.review ?? []) await server.query(statement);
  const after = found(await preflightServer(server), 'callable-names', 'postgres');
  expect(after.objects).toEqual(['d of public."The Table" (regoper)']);
  for (const statement of before.fix?.undoReview ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'callable-names', 'postgres').objects).toEqual(before.objects);
});

test('they are found in composites, arrays and domains, however deep, and nowhere else', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TYPE job AS (x int, "The F" regproc)',
    'CREATE DOMAIN task AS job',
    'CREATE TYPE plan AS (x job[], it task)',
    'CREATE TABLE t (id int PRIMARY KEY, x job, it job[], deep plan[], tasks task[], fine job, plain text)',
    `INSERT INTO t VALUES (1, ROW(1, 1395), ARRAY[ROW(1, 1395)::job], ARRAY[ROW(ARRAY[ROW(1, 1395)::job], NULL)::plan], ARRAY[ROW(1, 1395)::job::task], ROW(1, 'now'), 'abs')`,
  ]) {
    await server.query(statement);
  }
  const { objects, fix } = found(await preflightServer(server), 'callable-names', 'postgres');
  expect(objects).toEqual(['deep', 'it', 'tasks', 'x'].map((column) => `${column} of public.t (regproc)`));
  expect(fix?.review).toEqual([]);
});
