import { expect, test } from 'vitest';
import { restartPendingCheck } from '../../../../../src/db/preflight/postgresql/checks/restart-pending.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectText } from '../expect-text.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const quiet = { activity: [] };

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

test('the active value, the configured value and the start of the server are reported', () => {
  const facts = {
    settings: settings({ wal_level: 'replica' }),
    pending: [line],
    started: '2026-11-01 00:00:00',
    ...quiet,
  };
  const { detail, fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expectText(detail);
  expect(detail).toContain('2026-11-01 00:00:00');
  expect(fix?.restart).toBe(true);
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
])('a restart is no fix for $what', ({ now, pending }) => {
  const facts = { settings: settings(now), pending, started: '', ...quiet };
  const { fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(fix?.restart).toBeUndefined();
  expect(fix?.text).toContain('ALTER SYSTEM RESET');
});

test.each([
  {
    what: 'wal_level was reset to its default',
    now: { wal_level: { value: 'logical', pendingRestart: true } },
    pending: [],
    fatal: true,
  },
  { what: 'wal_level is lower', now: { wal_level: 'logical' }, pending: [{ ...line, value: 'replica' }], fatal: true },
  {
    what: 'the slots do not suffice for the databases',
    now: { wal_level: 'logical', max_replication_slots: '20' },
    pending: [{ ...line, name: 'max_replication_slots', value: '1' }],
    fatal: true,
  },
  {
    what: 'the slots suffice',
    now: { wal_level: 'logical', max_replication_slots: '20' },
    pending: [{ ...line, name: 'max_replication_slots', value: '9' }],
    fatal: false,
  },
])(
  'a restart after which the server does not start is named before the migration: $what',
  ({ now, pending, fatal }) => {
    const facts = { settings: settings(now), pending, started: '', ...quiet };
    const { status, headline, detail, fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
    expect(status).toBe('warn');
    expect(headline?.includes('DO NOT RESTART THE SOURCE') === true).toBe(fatal);
    if (!fatal) return;
    expectText(headline);
    expectText(detail);
    expect(fix?.restart).toBeUndefined();
  },
);

test('wal_level that was reset is set again, because there is no line to remove', () => {
  const all = settings({ wal_level: { value: 'logical', pendingRestart: true } });
  const facts = { settings: all, pending: [], started: '', ...quiet };
  const { fix } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(fix).toMatchObject({ sql: ["ALTER SYSTEM SET wal_level = 'logical'"], reload: true });
  expect(fix?.text).not.toContain('RESET');
});

test('a real server whose wal_level was reset: the fix keeps the value that is active', async () => {
  const { wal_level: _level, ...others } = ready;
  const server = await startPostgres({ version: 17, settings: others });
  await server.query("ALTER SYSTEM SET wal_level = 'logical'");
  await server.restart();
  await server.query('ALTER SYSTEM RESET wal_level');
  const reload = () => server.query('SELECT pg_reload_conf(), pg_sleep(1)');
  await reload();
  const { headline, fix } = found(await preflightServer(server), 'restart-pending');
  expect(headline).toContain('DO NOT RESTART THE SOURCE');
  for (const statement of fix?.sql ?? []) await server.query(statement);
  await reload();
  expect(found(await preflightServer(server), 'restart-pending').status).toBe('pass');
});

test('the effects now and after a restart are both reported', () => {
  const facts = {
    settings: settings({ wal_level: 'logical' }),
    pending: [{ ...line, value: 'replica' }],
    started: '',
    ...quiet,
  };
  const { detail } = restartPendingCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expectText(detail);
});
