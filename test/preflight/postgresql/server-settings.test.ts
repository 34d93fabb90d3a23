import { expect, test } from 'vitest';
import { rolePasswords, supers } from '../../../src/preflight/postgresql/carried-roles.ts';
import { listenAddresses } from '../../../src/preflight/postgresql/listen-addresses.ts';
import { restartPending } from '../../../src/preflight/postgresql/restart-pending.ts';
import { standbySource } from '../../../src/preflight/postgresql/standby-source.ts';
import { entered, ground, settings, short, wish } from './facts.ts';

const quiet = { activity: [] };

test.each([
  { value: '*', asPublic: true, verdict: 'pass' },
  { value: '0.0.0.0', asPublic: true, verdict: 'pass' },
  { value: '198.51.100.7, localhost', asPublic: true, verdict: 'pass' },
  { value: '10.0.0.5', asPublic: true, verdict: 'warn' },
  { value: 'localhost', asPublic: true, verdict: 'fail continuous+dump' },
  { value: '127.0.0.1, ::1', asPublic: true, verdict: 'fail continuous+dump' },
  { value: '', asPublic: true, verdict: 'fail continuous+dump' },
  { value: 'localhost', asPublic: false, verdict: 'warn' },
  { value: '*', asPublic: false, verdict: 'pass' },
])('listen_addresses "$value", judged for the internet $asPublic: $verdict', ({ value, asPublic, verdict }) => {
  const facts = { settings: settings({ listen_addresses: value }), ...quiet };
  expect(short(listenAddresses.judge(facts, ground(), wish({ asPublic })))).toBe(verdict);
});

const line = { name: 'wal_level', value: 'logical', error: 'setting could not be applied', file: '/d/c.conf', line: 3 };

test.each([
  { what: 'nothing', all: settings({ wal_level: 'replica' }), pending: [], verdict: 'pass' },
  {
    what: 'wal_level',
    all: settings({ wal_level: { value: 'replica', pendingRestart: true } }),
    pending: [],
    verdict: 'fail continuous',
  },
  {
    what: 'wal_level, not even loaded',
    all: settings({ wal_level: 'replica' }),
    pending: [line],
    verdict: 'fail continuous',
  },
  {
    what: 'a lower wal_level than the one in force',
    all: settings({ wal_level: { value: 'logical', pendingRestart: true } }),
    pending: [{ ...line, value: 'replica' }],
    verdict: 'warn',
  },
  {
    what: 'another number of slots',
    all: settings({ wal_level: 'logical', max_replication_slots: { value: '20', pendingRestart: true } }),
    pending: [],
    verdict: 'warn',
  },
  {
    what: 'a setting that does not matter',
    all: settings({ shared_buffers: { value: '128MB', pendingRestart: true } }),
    pending: [],
    verdict: 'warn',
  },
])('$what waits for a restart: $verdict', ({ all, pending, verdict }) => {
  const facts = { settings: all, pending, started: '2026-11-01 00:00:00', ...quiet };
  expect(short(restartPending.judge(facts, ground(), wish()))).toBe(verdict);
});

test('both values and the start of the server are told', () => {
  const facts = {
    settings: settings({ wal_level: 'replica' }),
    pending: [line],
    started: '2026-11-01 00:00:00',
    ...quiet,
  };
  const { detail, fix } = restartPending.judge(facts, ground(), wish());
  expect(detail).toContain('wal_level (replica in force, logical in the file)');
  expect(detail).toContain('runs since 2026-11-01 00:00:00');
  expect(fix?.restart).toBe(true);
});

test('a standby is no source for replication, and a dump from it may be cancelled', () => {
  const facts = { settings: settings({ max_standby_streaming_delay: '30000', hot_standby_feedback: 'off' }) };
  expect(short(standbySource.judge(facts, ground(), wish()))).toBe('pass');
  const standby = standbySource.judge(
    facts,
    ground({ entry: entered({ inRecovery: true, version: 150_018 }) }),
    wish(),
  );
  expect(short(standby)).toBe('fail continuous');
  expect(standby.detail).toContain('logical decoding cannot be used while in recovery');
  expect(standby.detail).toContain('canceling statement due to conflict with recovery');
});

const logins = [
  { name: 'migrator', superuser: true, canLogin: true },
  { name: 'app', superuser: false, canLogin: true },
  { name: 'root', superuser: true, canLogin: false },
];

test('other superusers and other logins are named, not the role of the migration', () => {
  expect(supers.judge({ logins }, ground(), wish())).toMatchObject({ status: 'warn', objects: ['root'] });
  expect(rolePasswords.judge({ logins }, ground(), wish())).toMatchObject({ status: 'info', objects: ['app'] });
  expect(short(supers.judge({ logins: logins.slice(0, 2) }, ground(), wish()))).toBe('pass');
  expect(short(rolePasswords.judge({ logins: logins.slice(0, 1) }, ground(), wish()))).toBe('pass');
});

test.each([
  { what: 'a lower wal_level', now: { wal_level: 'logical' }, pending: [{ ...line, value: 'replica' }] },
  {
    what: 'fewer slots',
    now: { max_replication_slots: '20' },
    pending: [{ ...line, name: 'max_replication_slots', value: '9' }],
  },
  {
    what: 'a line that no server starts with',
    now: {},
    pending: [{ ...line, name: 'nosuch', error: 'unrecognized configuration parameter' }],
  },
])('$what that waits is not cured by a restart', ({ now, pending }) => {
  const facts = { settings: settings(now), pending, started: '', ...quiet };
  const { fix } = restartPending.judge(facts, ground(), wish());
  expect(fix?.restart).toBeUndefined();
  expect(fix?.text).toContain('ALTER SYSTEM RESET');
});

test('what is true now and what will be after a restart are both told', () => {
  const facts = {
    settings: settings({ wal_level: 'logical' }),
    pending: [{ ...line, value: 'replica' }],
    started: '',
    ...quiet,
  };
  const { detail } = restartPending.judge(facts, ground(), wish());
  expect(detail).toContain('Now the migration goes by what is in force.');
  expect(detail).toContain('After the next restart it goes by wal_level replica');
});
