import { expect, it } from 'vitest';
import type { TableDefinition } from '../../../../src/db/watch/postgresql/facts.ts';
import {
  changedTables,
  markAllCopied,
  shownTables,
  sumTableBytes,
  type TableStates,
  type TrackedTables,
  trackDefinitions,
  updateTables,
} from '../../../../src/db/watch/postgresql/tables.ts';
import { makeDatabaseFacts, makeTable } from './make-facts.ts';

const sizes = new Map([[1, 1000]]);
const copy = (rows: number) => ({ pid: 1, database: 'shop', table: 1, rows, bytes: 0, dump: false });
const first = updateTables(new Map(), { tables: [makeTable()], sizes, copies: [], copying: false });
const stateOf = (tables: TableStates) => tables.get(1)?.state;

it('a table is copied while its COPY runs, as far as the rows tell, and done when that has ended', () => {
  const running = updateTables(first, {
    tables: [makeTable()],
    sizes: undefined,
    copies: [copy(25)],
    copying: true,
  });
  expect(sumTableBytes(running, [makeTable()])).toEqual({ done: 250, total: 1000 });
  const over = updateTables(running, {
    tables: [makeTable()],
    sizes: undefined,
    copies: [],
    copying: true,
  });
  expect(stateOf(over)).toBe('done');
  expect(sumTableBytes(over, [makeTable()])).toEqual({ done: 1000, total: 1000 });
});

it('up to 13 a COPY is told by the name of its table', () => {
  const named = { ...copy(0), table: 'public.t' };
  expect(stateOf(updateTables(first, { tables: [makeTable()], sizes, copies: [named], copying: true }))).toBe(
    'copying',
  );
});

it('a count that is old makes no copy whole before it has ended', () => {
  const running = updateTables(first, {
    tables: [makeTable()],
    sizes,
    copies: [copy(5000)],
    copying: true,
  });
  const [sight] = shownTables(running, [makeTable()]);
  expect(sight).toMatchObject({ state: 'copying', bytes_done: 990, rows_done: 5000, rows_total: 5000 });
});

it.each([
  ['once more as a whole while something is copied', { seqScans: 1, seqRows: 100 }, true, 'done'],
  ['in part', { seqScans: 1, seqRows: 99 }, true, 'waiting'],
  ['by an index', { seqScans: 0, seqRows: 0 }, true, 'waiting'],
  ['by the application, with no copy anywhere', { seqScans: 1, seqRows: 100 }, false, 'waiting'],
] as const)('a table that was read %s', (_how, read, copying, state) => {
  expect(stateOf(updateTables(first, { tables: [makeTable(read)], sizes, copies: [], copying }))).toBe(state);
});

it('tables that are dropped are forgotten, and past the copy all are done', () => {
  expect(updateTables(first, { tables: [], sizes, copies: [], copying: false }).size).toBe(0);
  expect(stateOf(markAllCopied(first))).toBe('done');
});

it('fifty tables are shown, those being copied first, then the biggest', () => {
  const many = Array.from({ length: 80 }, (_, at) => makeTable({ oid: at, name: `public.t${at}` }));
  const all = updateTables(new Map(), {
    tables: many,
    sizes: new Map(many.map(({ oid }) => [oid, oid])),
    copies: [{ ...copy(1), table: 3 }],
    copying: true,
  });
  const shown = shownTables(all, many);
  expect(shown).toHaveLength(50);
  expect(shown.slice(0, 2).map(({ name }) => name)).toEqual(['public.t3', 'public.t79']);
});

const withKey: TableDefinition = {
  schema: 'public',
  table: 'items',
  columns: 'a',
  identity: 'd',
  keyColumns: ['id'],
  hasReplicaIdentity: true,
};

/** The table has the definition of each poll; a row is inserted between two polls, and the target has applied it. */
function changedAfter(...polls: readonly TableDefinition[]): readonly string[] {
  let tracked: TrackedTables | undefined;
  for (const [at, shape] of polls.entries()) {
    const tables = [makeTable({ name: 'public.items', inserted: at })];
    const facts = makeDatabaseFacts({ tables, shapes: new Map([['public.items', shape]]) });
    tracked = trackDefinitions(tracked, { facts, walPosition: at, applied: at + 1, blamed: undefined });
  }
  return tracked === undefined ? [] : changedTables(tracked);
}

it('a change of columns is over when the target has applied rows that were written after it', () => {
  const altered = { ...withKey, columns: 'b' };
  expect(changedAfter(withKey, altered)).toEqual(['public.items']);
  expect(changedAfter(withKey, altered, altered)).toEqual([]);
});

it('a removed replica identity is not over before it is restored, because inserted rows need none', () => {
  const removed = { ...withKey, columns: 'b', identity: 'n', keyColumns: [], hasReplicaIdentity: false };
  expect(changedAfter(withKey, removed, removed, removed, removed)).toEqual(['public.items']);
  expect(changedAfter(withKey, removed, removed, { ...withKey, columns: 'b' })).toEqual([]);
});
