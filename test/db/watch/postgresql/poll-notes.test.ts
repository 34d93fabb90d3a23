import { expect, test } from 'vitest';
import { buildWatchPollNotes, listDeniedWatchQueries } from '../../../../src/db/watch/postgresql/poll-notes.ts';
import { createWatchedDatabaseState } from '../../../../src/db/watch/postgresql/tracking-state.ts';
import { makeServerFacts } from './make-facts.ts';

const chosen = { slots: [], ambiguous: [] };

test('ambiguous slots, denied queries and a missing slot are one note each', () => {
  expect(buildWatchPollNotes({ ...chosen, ambiguous: ['a', 'b'] }, 'waiting', ['slots']).notes).toHaveLength(3);
  expect(buildWatchPollNotes(chosen, 'waiting', []).notes).toHaveLength(1);
  expect(buildWatchPollNotes(chosen, 'copying', [])).toEqual({});
});

test('a query that failed on the server and in a database is listed once', () => {
  const server = makeServerFacts({ denied: ['slots', 'role'] });
  expect(listDeniedWatchQueries(server, new Map([['shop', createWatchedDatabaseState('shop')]]))).toEqual([
    'slots',
    'role',
  ]);
});
