import { expect, test } from 'vitest';
import { sessionChecksCheck } from '../../../../src/preflight/postgresql/checks/session-checks.ts';
import type { SessionDependentConstraint } from '../../../../src/preflight/postgresql/queries/session-dependent-constraints.ts';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const both = 'fail continuous+dump';
const tenant = "CHECK ((tenant = current_setting('app.tenant'::text)))";
const zone = "CHECK ((zone = current_setting('TimeZone'::text)))";
const who = 'CHECK ((who = CURRENT_USER))';
const named = 'CHECK ((to_regclass(tbl) IS NOT NULL))';
const cast = 'CHECK (((tbl)::regclass IS NOT NULL))';

test.each([
  { definition: tenant, rows: 'unseen', verdict: both },
  { definition: tenant, rows: 'none', verdict: 'pass' },
  { definition: zone, rows: 'unseen', verdict: 'pass' },
  { definition: who, rows: 'violate', verdict: both },
  { definition: who, rows: 'fit', verdict: 'warn' },
  { definition: named, rows: 'violate', verdict: both },
  { definition: named, rows: 'fit', verdict: 'pass' },
  { definition: cast, rows: 'unseen', verdict: 'unknown' },
] as const)('$definition, whose rows $rows: $verdict', ({ definition, rows, verdict }) => {
  const one: SessionDependentConstraint = { name: 'k', owner: 'public.t', ofDomain: false, definition, rows };
  expect(short(sessionChecksCheck.evaluate({ sessionChecks: [one] }, 'd1', sourceFacts(), preflightOptions()))).toBe(
    verdict,
  );
});

test('they are found on a real server, the fix removes them, and undo restores them', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TABLE base (id int PRIMARY KEY)',
    'CREATE DOMAIN "The Name" AS text CHECK (to_regclass(value) IS NOT NULL)',
    `CREATE TABLE t (id int PRIMARY KEY, who text CHECK (who = current_user OR who = 'x'), tbl "The Name",
       fine text CHECK (to_regclass(fine) IS NOT NULL), old text CHECK (length(old) < 9))`,
    "INSERT INTO t VALUES (1, 'postgres', 'base', 'public.base', 'a')",
    `ALTER TABLE t ADD CONSTRAINT "its tenant" CHECK (old = coalesce(nullif(current_setting('app.tenant', true), ''), 'a'))`,
  ]) {
    await server.query(statement);
  }
  const before = found(await preflightServer(server), 'session-checks', 'postgres');
  expect(before).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
  expect(before.objects?.map((one) => one.split(' CHECK')[0])).toEqual(['"The Name_check" on public."The Name"']);
  for (const statement of before.fix?.sql ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'session-checks', 'postgres').status).toBe('warn');
  for (const statement of before.fix?.undo ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'session-checks', 'postgres').status).toBe('fail');
});
