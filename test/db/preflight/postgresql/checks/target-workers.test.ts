import { expect, test } from 'vitest';
import { targetWorkersCheck } from '../../../../../src/db/preflight/postgresql/checks/target-workers.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

const defaults = {
  max_logical_replication_workers: '4',
  max_worker_processes: '8',
  max_sync_workers_per_subscription: '2',
  max_replication_slots: '10',
};

test.each([
  { what: 'as many workers as three databases need', count: 3, verdict: 'pass' },
  { what: 'too few workers', count: 4, verdict: 'fail continuous' },
  { what: 'workers that another subscription has', count: 3, taken: 1, verdict: 'fail continuous' },
  {
    what: 'no background process for the copy',
    count: 1,
    more: { max_worker_processes: '2' },
    verdict: 'fail continuous',
  },
  { what: 'too few origins', count: 1, more: { max_replication_slots: '2' }, verdict: 'fail continuous' },
  {
    what: 'origins of PostgreSQL 18',
    count: 1,
    more: { max_replication_slots: '0', max_active_replication_origins: '3' },
    verdict: 'pass',
  },
  {
    what: 'no origins in PostgreSQL 18',
    count: 1,
    more: { max_active_replication_origins: '0' },
    verdict: 'fail continuous',
  },
])('$what: $verdict', ({ count, taken = 0, more = {}, verdict }) => {
  const postgresql = postgresqlTarget({
    settings: new Map(Object.entries({ ...defaults, ...more })),
    subscriptions: taken,
  });
  const facts = sourceFacts({ databases: Array.from({ length: count }, (_, at) => `d${at}`) });
  const options = preflightOptions({ target: { host: 'staging', port: 5432, postgresql } });
  expect(short(targetWorkersCheck.evaluate({}, facts, options))).toBe(verdict);
});

test.each([undefined, postgresqlTarget()])('a target whose settings are not known is skipped', (postgresql) => {
  const target = { host: 'staging', port: 5432, postgresql };
  expect(targetWorkersCheck.evaluate({}, sourceFacts(), preflightOptions({ target })).status).toBe('skip');
});

test.each([
  { what: 'a target that was not read', tables: 9000, settings: undefined, verdict: 'skip' },
  { what: 'a target that was not read', tables: 9000, created: 14_000, settings: undefined, verdict: 'unknown' },
  { what: 'a target with the settings of initdb', tables: 9000, created: 14_000, settings: {}, verdict: 'unknown' },
  { what: 'a target with the settings of initdb', tables: 14_000, settings: {}, verdict: 'fail continuous' },
  {
    what: 'a target with more locks',
    tables: 14_000,
    settings: { max_locks_per_transaction: '256' },
    verdict: 'pass',
  },
])('$tables tables and $what: $verdict', ({ tables, created, settings, verdict }) => {
  const perDatabase = new Map([
    ['d1', { bytes: 0, tables, largest: undefined, locks: { schema: tables, all: tables, created } }],
    ['d2', { bytes: 0, tables: 10, largest: undefined, locks: { schema: 10, all: 10 } }],
  ]);
  const facts = sourceFacts({ copy: { bytes: 0, tables, largest: undefined, perDatabase, unseen: [] } });
  const postgresql =
    settings && postgresqlTarget({ settings: new Map(Object.entries({ ...defaults, ...settings })), subscriptions: 0 });
  const target = { host: 'staging', port: 5432, postgresql };
  const outcome = targetWorkersCheck.evaluate({}, facts, preflightOptions({ target }));
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass' && verdict !== 'skip') expectOutcomeText(outcome);
  if (verdict === 'fail continuous') expect(outcome.only).toEqual(['d1']);
});
