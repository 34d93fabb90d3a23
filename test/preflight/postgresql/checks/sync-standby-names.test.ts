import { expect, test } from 'vitest';
import { syncStandbyNamesCheck } from '../../../../src/preflight/postgresql/checks/sync-standby-names.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

function judge(value: string, applications: readonly string[] = [], commit = 'on') {
  const senders = applications.map((application) => ({ user: 'r', application, syncState: 'quorum' }));
  const names = { synchronous_standby_names: { value, context: 'sighup' }, synchronous_commit: commit };
  const facts = { settings: settings(names), senders };
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
  { value: '"*"', standbys: ['*'], verdict: 'pass' },
  { value: '*', verdict: 'fail continuous' },
  { value: 'ANY 1 (*)', verdict: 'fail continuous' },
  { value: 'FIRST 2 (s1, *)', verdict: 'fail continuous' },
  { value: '2 (*)', verdict: 'fail continuous' },
])('synchronous_standby_names $value, with $standbys: $verdict', ({ value, standbys, commit, verdict }) => {
  expect(short(judge(value, standbys, commit))).toBe(verdict);
});

test('a standby with a hidden state does not count as disconnected', () => {
  const senders = [{ user: 'r', application: 's1', syncState: undefined }];
  const facts = { settings: settings({ synchronous_standby_names: 's1', synchronous_commit: 'on' }), senders };
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
