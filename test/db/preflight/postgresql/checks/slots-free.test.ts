import { expect, test } from 'vitest';
import { slotsFreeCheck } from '../../../../../src/db/preflight/postgresql/checks/slots-free.ts';
import { expectText } from '../expect-text.ts';
import { database, preflightOptions, settings, short, slot, slots, sourceFacts } from '../facts.ts';

const three = sourceFacts({ databases: ['a', 'b', 'c'] });

const databases = ['a', 'b', 'c'].map((name) => database(name));

const quiet = { activity: [] };

function free(max: number, used: number) {
  const facts = {
    settings: settings({ max_replication_slots: String(max) }),
    slots: slots(used),
    databases,
    ...quiet,
  };
  return slotsFreeCheck.evaluate(facts, three, preflightOptions());
}

test.each([
  { max: 3, used: 0, verdict: 'fail continuous' },
  { max: 4, used: 0, verdict: 'warn' },
  { max: 10, used: 0, verdict: 'warn' },
  { max: 11, used: 0, verdict: 'pass' },
  { max: 10, used: 8, verdict: 'fail continuous' },
  { max: 0, used: 0, verdict: 'fail continuous' },
])('three databases with $used of $max slots used: $verdict', ({ max, used, verdict }) => {
  expect(short(free(max, used))).toBe(verdict);
});

test('the arithmetic of slots is shown', () => {
  const { detail, fix, headline } = free(10, 8);
  expectText(detail);
  expectText(headline);
  expectText(free(10, 0).headline);
  expect(fix).toMatchObject({
    sql: ["ALTER SYSTEM SET max_replication_slots = '19'"],
    undo: ['ALTER SYSTEM RESET max_replication_slots'],
    restart: true,
  });
});

test('the fix names inactive slots, which can be dropped without a restart', () => {
  const facts = {
    settings: settings({ max_replication_slots: '4' }),
    slots: [slot({ name: 'old', active: false })],
    databases,
    ...quiet,
  };
  const { fix, objects } = slotsFreeCheck.evaluate(facts, three, preflightOptions());
  expectText(fix?.text);
  expect(objects).toEqual(['old (logical, d1, inactive)']);
});

test('the detail lists the sessions that a restart would end', () => {
  const activity = [
    { user: 'app', sessions: 10, seconds: 180 },
    { user: 'report', sessions: 2, seconds: undefined },
  ];
  const facts = { settings: settings({ max_replication_slots: '1' }), slots: [], databases, activity };
  expectText(slotsFreeCheck.evaluate(facts, three, preflightOptions()).detail);
});
