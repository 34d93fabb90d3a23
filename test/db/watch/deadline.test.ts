import { expect, it } from 'vitest';
import { checkDeadline, deadlineFields } from '../../../src/db/watch/sample.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { describeViolations } from './describe-violations.ts';

const day = 86_400_000;
const start = { startedAt: Date.parse('2026-11-20T12:00:00Z'), from: 'migrate' } as const;
const judge = (days: number, eta?: number) => checkDeadline(start, start.startedAt + days * day, eta);

it('a migration is stopped two weeks after it started', () => {
  expect(deadlineFields(start)).toEqual({ deadline: '2026-12-04T12:00:00Z', deadline_from: 'migrate' });
  expect(deadlineFields(undefined)).toEqual({ deadline: null, deadline_from: 'unknown' });
});

it('the deadline is a violation from the tenth day on', () => {
  expect(judge(9.9)).toEqual([]);
  expectGolden('db-watch', describeViolations([10, 13.9, 14].flatMap((days) => judge(days))));
  expect(checkDeadline(undefined, 0, 5)).toEqual([]);
});

it('an estimated end after the deadline is a violation from the first day on', () => {
  expect(judge(1, 12 * 86_400)).toEqual([]);
  expectGolden('db-watch', describeViolations(judge(1, 14 * 86_400)));
});

it('a deadline without a recorded start counts from the first poll', () => {
  const found = checkDeadline({ ...start, from: 'first_sighting' }, start.startedAt + 11 * day, undefined);
  expectGolden('db-watch', describeViolations(found));
});
