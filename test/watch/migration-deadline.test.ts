import { expect, it } from 'vitest';
import { checkDeadline, deadlineFields } from '../../src/watch/migration-deadline.ts';

const day = 86_400_000;
const startedAt = { startedAt: Date.parse('2026-11-20T12:00:00Z'), from: 'migrate' } as const;
const judge = (days: number, eta?: number) => checkDeadline(startedAt, startedAt.startedAt + days * day, eta);

it('a migration is stopped two weeks after it started', () => {
  expect(deadlineFields(startedAt)).toEqual({ deadline: '2026-12-04T12:00:00Z', deadline_from: 'migrate' });
  expect(deadlineFields(undefined)).toEqual({ deadline: null, deadline_from: 'unknown' });
});

it('it is warned of from the tenth day on, and when it is over', () => {
  expect(judge(9.9)).toEqual([]);
  expect(judge(10)[0]?.observed).toBe('it is stopped in 4 days');
  expect(judge(13.9)[0]?.observed).toBe('it is stopped in 2 hours');
  expect(judge(14)[0]?.observed).toBe('the two weeks are over');
  expect(checkDeadline(undefined, 0, 5)).toEqual([]);
});

it('what takes longer than is left is told on the first day', () => {
  expect(judge(1, 12 * 86_400)).toEqual([]);
  expect(judge(1, 14 * 86_400)[0]?.observed).toMatch(/14 days are needed and 13 days are left/);
});

it('a clock that runs from the first sighting says so', () => {
  const [found] = checkDeadline({ ...startedAt, from: 'first_sighting' }, startedAt.startedAt + 11 * day, undefined);
  expect(found?.observed).toMatch(/counted from when it was first seen/);
});
