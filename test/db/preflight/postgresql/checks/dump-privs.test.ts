import { expect, test } from 'vitest';
import type { CheckOutcome } from '../../../../../src/db/preflight/finding.ts';
import { dumpPrivsCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-privs.ts';
import type { MigrationRole } from '../../../../../src/db/preflight/postgresql/queries/roles.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, role, sourceFacts } from '../facts.ts';

const closed = [
  { kind: 'table', name: '"S x".t', schema: '"S x"', usage: false, select: true },
  { kind: 'table', name: 'public.u', schema: 'public', usage: true, select: false },
  { kind: 'sequence', name: 'public.s', schema: 'public', usage: true, select: false },
] as const;

function denied(
  version: number,
  closedLargeObjects: readonly string[] = [],
  more: Partial<MigrationRole> = {},
): CheckOutcome {
  const where = sourceFacts({ username: 'a "b', connection: connected({ version, superuser: false }) });
  const facts = { closed: { objects: closed, tables: 2, sequences: 1 }, closedLargeObjects, role: role(more) };
  return dumpPrivsCheck.evaluate(facts, 'd1', where, preflightOptions());
}

test('objects that the role cannot read block the dump, with the error of pg_dump', () => {
  expect(denied(170_010)).toMatchObject({
    status: 'fail',
    blocks: ['dump'],
    objects: [expect.stringMatching(/^"S x"\.t \(no USAGE\b/), 'public.u', 'sequence public.s'],
  });
  expectText(denied(170_010).observed);
  expectText(denied(170_010).detail);
  expectText(denied(170_010).objects?.join('\n'));
});

test('since 14 pg_read_all_data covers everything but large objects; before, each object needs a grant', () => {
  expect(denied(140_023).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b"'],
    undo: ['REVOKE pg_read_all_data FROM "a ""b"'],
  });
  expect(denied(140_023).fix?.database).toBeUndefined();
  expect(denied(140_023, ['55']).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b"', 'GRANT SELECT ON LARGE OBJECT 55 TO "a ""b"'],
    database: 'd1',
  });
  expect(denied(130_023).fix).toMatchObject({
    sql: [
      'GRANT USAGE ON SCHEMA "S x" TO "a ""b"',
      'GRANT SELECT ON TABLE "public"."u" TO "a ""b"',
      'GRANT SELECT ON SEQUENCE "public"."s" TO "a ""b"',
    ],
    undo: [
      'REVOKE USAGE ON SCHEMA "S x" FROM "a ""b"',
      'REVOKE SELECT ON TABLE "public"."u" FROM "a ""b"',
      'REVOKE SELECT ON SEQUENCE "public"."s" FROM "a ""b"',
    ],
  });
});

test('a membership without INHERIT has no effect: the fix enables it, and its undo restores it', () => {
  const member = { inherits: false, memberOf: ['a "b', 'pg_read_all_data'] };
  expect(denied(170_010, [], member).fix).toMatchObject({
    sql: ['GRANT pg_read_all_data TO "a ""b" WITH INHERIT TRUE'],
    undo: ['GRANT pg_read_all_data TO "a ""b" WITH INHERIT FALSE'],
  });
  expect(denied(150_018, [], member).fix).toMatchObject({
    sql: ['ALTER ROLE "a ""b" INHERIT'],
    undo: ['ALTER ROLE "a ""b" NOINHERIT'],
  });
  expect(denied(150_018, [], { inherits: false }).fix).toMatchObject({
    sql: ['ALTER ROLE "a ""b" INHERIT', 'GRANT pg_read_all_data TO "a ""b"'],
    undo: ['REVOKE pg_read_all_data FROM "a ""b"', 'ALTER ROLE "a ""b" NOINHERIT'],
  });
});

test('a role that may read everything passes', () => {
  const nothing = { objects: [], tables: 0, sequences: 0 };
  expect(
    dumpPrivsCheck.evaluate(
      { closed: nothing, closedLargeObjects: [], role: role() },
      'd1',
      sourceFacts(),
      preflightOptions(),
    ),
  ).toMatchObject({
    status: 'pass',
    observed: 'superuser',
  });
});
