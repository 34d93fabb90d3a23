import { expect, test } from 'vitest';
import {
  type SettingsConstraint,
  settingDependentChecksCheck,
} from '../../../../../src/db/preflight/postgresql/checks/setting-checks.ts';
import type { ObjectBody } from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import type { FunctionUse } from '../../../../../src/db/preflight/postgresql/queries/function-uses.ts';
import type { RoleSetting } from '../../../../../src/db/preflight/postgresql/queries/roles.ts';
import { type Postgres, ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const usual = { TimeZone: 'Etc/UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'postgres' };
const both = 'fail continuous+dump';

function check(more: Partial<SettingsConstraint> = {}): SettingsConstraint {
  const definition = 'CHECK (((at)::date = day))';
  return { name: 'c', owner: 'public.t', ofDomain: false, definition, filled: true, ...more };
}

function judged(checks: readonly SettingsConstraint[], values: Partial<typeof usual>, more: Partial<Facts> = {}) {
  const facts = { swayedChecks: checks, functionUses: [], functionBodies: [], roleSettings: [], ...more };
  const own = settings({ ...usual, ...values });
  return settingDependentChecksCheck.evaluate({ ...facts, settings: own }, 'd1', sourceFacts(), preflightOptions());
}

interface Facts {
  readonly functionUses: readonly FunctionUse[];
  readonly functionBodies: readonly ObjectBody[];
  readonly roleSettings: readonly RoleSetting[];
}

const tokyo = { TimeZone: 'Asia/Tokyo' };

test.each([
  { what: 'none', is: undefined, values: tokyo, verdict: 'pass' },
  { what: 'without rows', is: { filled: false }, values: tokyo, verdict: 'pass' },
  { what: 'with rows, in Tokyo', is: {}, values: tokyo, verdict: 'unknown' },
  { what: 'with rows, in UTC', is: {}, values: {}, verdict: 'unknown' },
  // What initdb writes in Europe; ISO dates are read alike.
  { what: 'with rows, where days stand before months', is: {}, values: { DateStyle: 'ISO, DMY' }, verdict: 'unknown' },
] as const)('$what: $verdict', ({ is, values, verdict }) => {
  expect(short(judged(is === undefined ? [] : [check(is)], values))).toBe(verdict);
});

test('what is glued to a database counts there alone', () => {
  const roleSettings = [{ database: 'd2', role: undefined, name: 'timezone', value: 'Asia/Tokyo' }];
  expect(judged([check()], {}, { roleSettings }).observed).not.toContain('Asia/Tokyo');
  expect(judged([check()], {}, { roleSettings: [{ ...roleSettings[0]!, database: 'd1' }] }).observed).toContain(
    'Asia/Tokyo',
  );
});

test.each([
  { kind: 'generated', filled: true, values: tokyo, verdict: both },
  { kind: 'unique', filled: true, values: tokyo, verdict: both },
  { kind: 'partition', filled: true, values: tokyo, verdict: both },
  { kind: 'check', filled: true, values: tokyo, verdict: 'unknown' },
  { kind: 'index', filled: true, values: tokyo, verdict: 'pass' },
  { kind: 'generated', filled: false, values: tokyo, verdict: 'pass' },
  { kind: 'generated', filled: true, values: {}, verdict: 'pass' },
] as const)(
  'a function that goes by the zone, $kind, with rows $filled, $values: $verdict',
  ({ kind, filled, values, verdict }) => {
    const functionUses = [{ calls: '1', kind, name: 'x', filled }];
    const body: ObjectBody = {
      ...{ oid: '1', schema: 'public', name: 'day_of', isView: false, signature: 'public.day_of(timestamptz)' },
      ...{
        language: 'sql',
        text: 'SELECT $1::date',
        bound: '',
        hasPath: false,
        hasZone: false,
        hasRole: false,
        inlined: true,
      },
      ...{ calls: [], types: ['timestamptz'], names: [] },
    };
    expect(short(judged([], values, { functionUses, functionBodies: [body] }))).toBe(verdict);
    const standard = { ...body, text: '', bound: 'RETURN (($1)::date)' };
    expect(short(judged([], values, { functionUses, functionBodies: [standard] }))).toBe(verdict);
    const above = [{ ...body, oid: '1', text: '', bound: 'RETURN public.day_of($1)', calls: ['2'] }];
    const nested = { functionUses, functionBodies: [...above, { ...body, oid: '2' }] };
    expect(short(judged([], values, nested))).toBe(verdict);
    const own = { functionUses, functionBodies: [{ ...body, hasZone: true }] };
    expect(judged([], values, own).status).toBe('pass');
  },
);

test('settings-dependent constraints are found on a real server, and the fix removes them', async () => {
  const server: Postgres = await startPostgres({ version: 17, settings: { ...ready, timezone: 'Asia/Tokyo' } });
  for (const statement of [
    'CREATE TABLE "The Table" (id int PRIMARY KEY, at timestamptz, day date, w text)',
    'ALTER TABLE "The Table" ADD CONSTRAINT "its day" CHECK (at::date = day)',
    'ALTER TABLE "The Table" ADD CONSTRAINT late CHECK (at > date \'2000-01-01\')',
    'CREATE DOMAIN early AS timestamptz CHECK (extract(hour FROM value) < 12)',
    'CREATE TABLE t (id int PRIMARY KEY, at early, code int CHECK (length(code::text) = 3))',
    `INSERT INTO "The Table" VALUES (1, '2026-01-01 23:30+00', '2026-01-02')`,
    "INSERT INTO t VALUES (1, '2026-01-01 23:30+00', 123)",
  ]) {
    await server.query(statement);
  }
  const before = found(await preflightServer(server), 'setting-checks', 'postgres');
  expect(before).toMatchObject({
    status: 'unknown',
    objects: [
      expect.stringMatching(/^"its day" on public\."The Table" CHECK/),
      expect.stringMatching(/^late on public\."The Table" CHECK/),
      expect.stringMatching(/^early_check on public\.early CHECK/),
    ],
  });
  for (const statement of [...(before.fix?.sql ?? []), ...(before.fix?.sql ?? [])]) await server.query(statement);
  expect(found(await preflightServer(server), 'setting-checks', 'postgres').status).toBe('pass');
  for (const statement of before.fix?.undoReview ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'setting-checks', 'postgres').status).toBe('unknown');
});
