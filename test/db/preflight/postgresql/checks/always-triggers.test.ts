import { expect, test } from 'vitest';
import { alwaysTriggersCheck } from '../../../../../src/db/preflight/postgresql/checks/always-triggers.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

test('a trigger of the kind REPLICA is disabled, since it would begin to fire here', () => {
  const applyTriggers = [
    { table: 'public.t', name: 'The "Audit"', always: true, acts: false, unlogged: false },
    { table: 'public.t', name: 'mirror', always: false, acts: false, unlogged: false },
  ];
  expect(alwaysTriggersCheck.evaluate({ applyTriggers }, 'd1', sourceFacts(), preflightOptions()).fix).toMatchObject({
    sql: [
      'ALTER TABLE "public"."t" ENABLE TRIGGER "The ""Audit"""',
      'ALTER TABLE "public"."t" DISABLE TRIGGER "mirror"',
    ],
    undo: [
      'ALTER TABLE "public"."t" ENABLE ALWAYS TRIGGER "The ""Audit"""',
      'ALTER TABLE "public"."t" ENABLE REPLICA TRIGGER "mirror"',
    ],
  });
});

test('a trigger that fires on apply blocks if it has side effects', () => {
  const judged = (acts: boolean, unlogged = false) =>
    short(
      alwaysTriggersCheck.evaluate(
        { applyTriggers: [{ table: 'public.t', name: 'audit', always: true, acts, unlogged }] },
        'd1',
        sourceFacts(),
        preflightOptions(),
      ),
    );
  expect(judged(false)).toBe('warn');
  expect(judged(true)).toBe('fail continuous');
  expect(judged(true, true)).toBe('warn');
});
