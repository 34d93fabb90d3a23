import { expect, test } from 'vitest';
import { slotsFreeCheck } from '../../../../../src/db/preflight/postgresql/checks/slots-free.ts';
import { slotsVsDbsCheck } from '../../../../../src/db/preflight/postgresql/checks/slots-vs-dbs.ts';
import { database, preflightOptions, settings, short, slots, sourceFacts } from '../facts.ts';

const databases = ['a', 'b', 'c'].map((name) => database(name));

const quiet = { activity: [] };

test.each([
  { max: 2, verdict: 'fail continuous' },
  { max: 3, verdict: 'pass' },
])('$max slots for three databases, of which two are ignored: $verdict', ({ max, verdict }) => {
  const facts = { settings: settings({ max_replication_slots: String(max) }), slots: [], databases, ...quiet };
  expect(short(slotsVsDbsCheck.evaluate(facts, sourceFacts({ databases: ['a'] }), preflightOptions()))).toBe(verdict);
});

test('both checks of slots ask for the same number, so that a script sets it once', () => {
  const facts = { settings: settings({ max_replication_slots: '1' }), slots: slots(1), databases, ...quiet };
  const one = sourceFacts({ databases: ['a'] });
  expect(slotsVsDbsCheck.evaluate(facts, one, preflightOptions()).fix?.sql).toEqual(
    slotsFreeCheck.evaluate(facts, one, preflightOptions()).fix?.sql,
  );
});
