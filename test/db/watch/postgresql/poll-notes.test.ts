import { expect, test } from 'vitest';
import { buildWatchPollNotes, listDeniedWatchQueries } from '../../../../src/db/watch/postgresql/poll-notes.ts';
import { createWatchedDatabaseState } from '../../../../src/db/watch/postgresql/tracking-state.ts';
import { makeServerFacts } from './make-facts.ts';

test('a silent target, denied queries and a missing slot are one note each', () => {
  expect(buildWatchPollNotes('waiting', ['slots'], ['silent']).notes).toHaveLength(3);
  expect(buildWatchPollNotes('waiting', [], []).notes).toHaveLength(1);
  expect(buildWatchPollNotes('copying', [], [])).toEqual({});
});

test('a query that failed on the server and in a database is listed once', () => {
  const server = makeServerFacts({ denied: ['slots', 'role'] });
  expect(listDeniedWatchQueries(server, new Map([['shop', createWatchedDatabaseState('shop')]]))).toEqual([
    'slots',
    'role',
  ]);
});
