import { expect, test } from 'vitest';
import { syncStandbyNamesCheck } from '../../../../../src/db/preflight/postgresql/checks/sync-standby-names.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

function judge(
  value: string,
  applications: readonly string[] = [],
  commit = 'on',
  commitModes: readonly string[] = [],
) {
  const senders = applications.map((application) => ({ user: 'r', application, syncState: 'quorum' }));
  const names = { synchronous_standby_names: { value, context: 'sighup' }, synchronous_commit: commit };
  const facts = { settings: settings(names), senders, commitModes };
  return syncStandbyNamesCheck.evaluate(facts, sourceFacts(), preflightOptions());
}

test.each([
  { value: '', verdict: 'pass' },
  { value: 's1, s2', standbys: ['s1'], verdict: 'pass' },
  { value: 'ANY 1 (s1, s2)', standbys: ['s2'], verdict: 'pass' },
  { value: 'FIRST 2 (s1, s2)', standbys: ['s1', 's2'], verdict: 'pass' },
  { value: 'FIRST 2 (s1, s2)', standbys: ['s1'], verdict: 'fail continuous' },
  { value: 's1', verdict: 'fail continuous' },
  { value: 's1', commit: 'local', verdict: 'pass' },
  { value: '*', commit: 'local', verdict: 'pass' },
  { value: 'ANY 1 (*)', commit: 'off', verdict: 'pass' },
  { value: '*', commit: 'remote_write', verdict: 'fail continuous' },
  { value: '*', commit: 'local', stored: ['local', 'OFF'], verdict: 'pass' },
  { value: '*', commit: 'local', stored: ['off', 'on'], verdict: 'fail continuous' },
  { value: '"*"', standbys: ['*'], verdict: 'pass' },
  { value: '*', verdict: 'fail continuous' },
  { value: 'ANY 1 (*)', verdict: 'fail continuous' },
  { value: 'FIRST 2 (s1, *)', verdict: 'fail continuous' },
  { value: '2 (*)', verdict: 'fail continuous' },
])('synchronous_standby_names $value, with $standbys: $verdict', ({ value, standbys, commit, stored, verdict }) => {
  expect(short(judge(value, standbys, commit, stored))).toBe(verdict);
});

test('a standby with a hidden state does not count as disconnected', () => {
  const senders = [{ user: 'r', application: 's1', syncState: undefined }];
  const facts = {
    settings: settings({ synchronous_standby_names: 's1', synchronous_commit: 'on' }),
    senders,
    commitModes: [],
  };
  expect(syncStandbyNamesCheck.evaluate(facts, sourceFacts(), preflightOptions()).status).toBe('pass');
});

test('the fix lists the confirming standbys and keeps their required number', () => {
  expect(judge('ANY 2 (*)', ['a', 'b-1']).fix).toMatchObject({
    sql: [`ALTER SYSTEM SET synchronous_standby_names = 'ANY 2 ("a", "b-1")'`],
    reload: true,
  });
});

test('without a standby nothing is named', () => {
  expect(judge('*').fix?.sql).toEqual(["ALTER SYSTEM SET synchronous_standby_names = ''"]);
});

test('a value of our own role says nothing about the server', () => {
  const values = settings({
    synchronous_standby_names: '*',
    synchronous_commit: { value: 'local', source: 'user' },
  });
  const facts = { settings: values, senders: [], commitModes: ['local'] };
  expect(short(syncStandbyNamesCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('fail continuous');
});

test('commits wait only for a role or a database that says so', async () => {
  const server = await startPostgres({
    version: 15,
    settings: { ...ready, synchronous_standby_names: '*', synchronous_commit: 'local' },
    setup: ['CREATE ROLE app LOGIN'],
  });
  const outcome = async () => short(found(await preflightServer(server), 'sync-standby-names'));
  expect(await outcome()).toBe('pass');
  await server.query('ALTER ROLE app SET synchronous_commit TO remote_apply');
  expect(await outcome()).toBe('fail continuous');
}, 60_000);
