import { expect, test } from 'vitest';
import { listDenied, pollNotes } from '../../../../src/db/watch/postgresql/fold.ts';
import { createDatabaseState } from '../../../../src/db/watch/postgresql/state.ts';
import { makeServerFacts } from './make-facts.ts';

test('a silent target, denied queries and a missing slot are one note each', () => {
  expect(pollNotes('waiting', ['slots'], ['silent']).notes).toHaveLength(3);
  expect(pollNotes('waiting', [], []).notes).toHaveLength(1);
  expect(pollNotes('copying', [], [])).toEqual({});
});

test('a query that failed on the server and in a database is listed once', () => {
  const server = makeServerFacts({ denied: ['slots', 'role'] });
  expect(listDenied(server, new Map([['shop', createDatabaseState('shop')]]))).toEqual(['slots', 'role']);
});
