import { expect, test } from 'vitest';
import { authConnlimitCheck } from '../../../src/preflight/postgresql/checks/auth-connlimit.ts';
import { authExpiryWindowCheck } from '../../../src/preflight/postgresql/checks/auth-expiry-window.ts';
import { connHeadroomCheck } from '../../../src/preflight/postgresql/checks/conn-headroom.ts';
import { roleReadonlyCheck } from '../../../src/preflight/postgresql/checks/role-readonly.ts';
import { roleTimeoutsCheck } from '../../../src/preflight/postgresql/checks/role-timeouts.ts';
import { superuserCheck } from '../../../src/preflight/postgresql/checks/superuser.ts';
import { connected, copy, preflightOptions, role, settings, short, sourceFacts } from './facts.ts';

test.each([
  { what: 'a superuser', is: {}, verdict: 'pass' },
  { what: 'a bare role', is: { superuser: false }, verdict: 'fail continuous' },
  {
    what: 'a member of rds_superuser',
    is: { superuser: false, memberOf: ['migrator', 'rds_superuser'] },
    verdict: 'warn',
  },
  {
    what: 'a member of doadmin',
    is: { superuser: false, memberOf: ['migrator', 'doadmin'] },
    verdict: 'fail continuous',
  },
])('$what: $verdict', ({ is, verdict }) => {
  expect(short(superuserCheck.evaluate({ role: role(is) }, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a role is quoted in its cure', () => {
  const { fix } = superuserCheck.evaluate(
    { role: role({ superuser: false, name: 'My "role' }) },
    sourceFacts(),
    preflightOptions(),
  );
  expect(fix?.sql).toEqual(['ALTER ROLE "My ""role" SUPERUSER']);
});

const day = 86_400;

test.each([
  { left: undefined, verdict: 'pass' },
  { left: 15 * day, verdict: 'pass' },
  { left: 14 * day, verdict: 'pass' },
  { left: 14 * day - 1, verdict: 'warn' },
  { left: 60, verdict: 'warn' },
  { left: 59, verdict: 'fail continuous+dump' },
  // Whom a host rule lets in without a password.
  { left: -1, verdict: 'warn' },
])('a password that lives for $left more seconds: $verdict', ({ left, verdict }) => {
  const facts = { role: role({ secondsLeft: left, validUntil: '2026-11-30 00:00:00+00' }) };
  expect(short(authExpiryWindowCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('the expiry observed comes back', () => {
  const facts = { role: role({ secondsLeft: day, validUntil: '2026-11-21 00:00:00+00' }) };
  expect(authExpiryWindowCheck.evaluate(facts, sourceFacts(), preflightOptions()).fix?.undo).toEqual([
    `ALTER ROLE "migrator" VALID UNTIL '2026-11-21 00:00:00+00'`,
  ]);
});

test.each([
  { what: 'a superuser is not limited', is: { connectionLimit: 1 }, verdict: 'pass' },
  { what: 'no limit', is: { superuser: false }, verdict: 'pass' },
  { what: 'too few for two tables', is: { superuser: false, connectionLimit: 9 }, verdict: 'warn' },
  { what: 'enough for two tables', is: { superuser: false, connectionLimit: 10 }, verdict: 'pass' },
])('connection limit of the role, $what: $verdict', ({ is, verdict }) => {
  expect(short(authConnlimitCheck.evaluate({ role: role(is), databases: [] }, sourceFacts(), preflightOptions()))).toBe(
    verdict,
  );
});

test.each([
  { used: 90, is: {}, version: 170_000, verdict: 'pass' },
  { used: 97, is: {}, version: 170_000, verdict: 'warn' },
  { used: 94, is: { superuser: false }, version: 170_000, verdict: 'warn' },
  { used: 90, is: {}, version: 110_000, verdict: 'warn' },
])('$used of 100 connections used, version $version: $verdict', ({ used, is, version, verdict }) => {
  const facts = {
    capacity: { max: 100, reserved: 3, used },
    settings: settings({ max_connections: '100' }),
    role: role(is),
  };
  expect(
    short(connHeadroomCheck.evaluate(facts, sourceFacts({ connection: connected({ version }) }), preflightOptions())),
  ).toBe(verdict);
});

const off = settings({ default_transaction_read_only: { value: 'off', context: 'user' } });

test('a role that begins read-only transactions cannot publish', () => {
  const glued = { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'on' };
  const facts = { settings: off, roleSettings: [glued], role: role() };
  const outcome = roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('fail continuous');
  expect(outcome).not.toHaveProperty('only');
  expect(outcome.fix).toMatchObject({
    sql: [`ALTER ROLE "migrator" SET default_transaction_read_only = 'off'`],
    undo: [`ALTER ROLE "migrator" SET default_transaction_read_only = 'on'`],
  });
});

test('a database that begins read-only transactions is the only one blocked', () => {
  const glued = { role: undefined, database: 'd1', name: 'default_transaction_read_only', value: 'on' };
  const facts = { settings: off, roleSettings: [glued], role: role() };
  expect(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'fail',
    only: ['d1'],
    fix: { undo: ['ALTER ROLE "migrator" RESET default_transaction_read_only'] },
  });
});

test("what is glued to the role wins over the database's", () => {
  const facts = {
    settings: off,
    roleSettings: [
      { role: undefined, database: 'd1', name: 'default_transaction_read_only', value: 'on' },
      { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'off' },
    ],
    role: role(),
  };
  expect(short(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('pass');
});

test('what is glued to role and database wins, and is cured there', () => {
  const facts = {
    settings: off,
    roleSettings: [
      { role: 'migrator', database: 'd1', name: 'default_transaction_read_only', value: 'on' },
      { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'off' },
    ],
    role: role(),
  };
  expect(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    only: ['d1'],
    fix: { sql: [`ALTER ROLE "migrator" IN DATABASE "d1" SET default_transaction_read_only = 'off'`] },
  });
});

test.each([
  { what: 'none', value: '0', bytes: 1e9, verdict: 'pass' },
  { what: 'one that the biggest table outlasts', value: '10s', bytes: 1e9, verdict: 'fail continuous' },
  { what: 'one longer than the biggest table', value: '60s', bytes: 1e9, verdict: 'warn' },
  { what: 'one with nothing to copy', value: '1ms', bytes: 0, verdict: 'warn' },
])('statement_timeout of the role, $what: $verdict', ({ value, bytes, verdict }) => {
  const facts = {
    settings: settings({ statement_timeout: { value: '0', unit: 'ms', context: 'user' } }),
    roleSettings: [{ role: 'migrator', database: undefined, name: 'statement_timeout', value }],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(bytes) }), preflightOptions()))).toBe(
    verdict,
  );
});

test('a timeout that ends a waiting connection only warns, however short', () => {
  const facts = {
    settings: settings({ idle_session_timeout: { value: '1000', unit: 'ms', context: 'user' } }),
    roleSettings: [],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(1e12) }), preflightOptions()))).toBe('warn');
});

test.each([
  { what: 'of a millisecond', value: '1', verdict: 'fail continuous' },
  { what: 'of a second', value: '1000', verdict: 'warn' },
])('a transaction timeout $what where nothing is to be copied: $verdict', ({ value, verdict }) => {
  const facts = {
    settings: settings({ transaction_timeout: { value, unit: 'ms', context: 'user' } }),
    roleSettings: [],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(0) }), preflightOptions()))).toBe(verdict);
});

test('a password that is over before the fastest copy is blocks both methods', () => {
  const facts = { role: role({ secondsLeft: 3600 }) };
  expect(
    short(authExpiryWindowCheck.evaluate(facts, sourceFacts({ copy: copy(3599 * 50e6) }), preflightOptions())),
  ).toBe('warn');
  expect(
    short(authExpiryWindowCheck.evaluate(facts, sourceFacts({ copy: copy(3601 * 50e6) }), preflightOptions())),
  ).toBe('fail continuous+dump');
});
