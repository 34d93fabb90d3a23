import { expect, test } from 'vitest';
import { listenAddressesCheck } from '../../../src/preflight/postgresql/checks/listen-addresses.ts';
import { restartPendingCheck } from '../../../src/preflight/postgresql/checks/restart-pending.ts';
import { rolePasswordsCheck } from '../../../src/preflight/postgresql/checks/role-passwords.ts';
import { standbySourceCheck } from '../../../src/preflight/postgresql/checks/standby-source.ts';
import { supersCheck } from '../../../src/preflight/postgresql/checks/supers.ts';
import { connected, preflightOptions, settings, short, sourceFacts } from './facts.ts';

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
  expect(short(listenAddressesCheck.evaluate(facts, sourceFacts(), preflightOptions({ asPublic })))).toBe(verdict);
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
  expect(short(restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('both values and the start of the server are told', () => {
  const facts = {
    settings: settings({ wal_level: 'replica' }),
    pending: [line],
    started: '2026-11-01 00:00:00',
    ...quiet,
  };
  const { detail, fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(detail).toContain('wal_level (replica in force, logical in the file)');
  expect(detail).toContain('runs since 2026-11-01 00:00:00');
  expect(fix?.restart).toBe(true);
});

test('a standby is no source for replication, and a dump from it may be cancelled', () => {
  const facts = { settings: settings({ max_standby_streaming_delay: '30000', hot_standby_feedback: 'off' }) };
  expect(short(standbySourceCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('pass');
  const standby = standbySourceCheck.evaluate(
    facts,
    sourceFacts({ connection: connected({ inRecovery: true, version: 150_018 }) }),
    preflightOptions(),
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
  expect(supersCheck.evaluate({ logins }, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    objects: ['root'],
  });
  expect(rolePasswordsCheck.evaluate({ logins }, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'info',
    objects: ['app'],
  });
  expect(short(supersCheck.evaluate({ logins: logins.slice(0, 2) }, sourceFacts(), preflightOptions()))).toBe('pass');
  expect(short(rolePasswordsCheck.evaluate({ logins: logins.slice(0, 1) }, sourceFacts(), preflightOptions()))).toBe(
    'pass',
  );
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
  const { fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
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
  const { detail } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(detail).toContain('Now the migration goes by what is in force.');
  expect(detail).toContain('After the next restart it goes by wal_level replica');
});
