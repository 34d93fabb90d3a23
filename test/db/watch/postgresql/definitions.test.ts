import { expect, it } from 'vitest';
import type { TableDefinition } from '../../../../src/db/watch/postgresql/facts.ts';
import { changedTables, type TrackedTables, trackDefinitions } from '../../../../src/db/watch/postgresql/tables.ts';
import { makeDatabaseFacts, makeTable } from './make-facts.ts';

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
