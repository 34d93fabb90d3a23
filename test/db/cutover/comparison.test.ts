import { expect, test } from 'vitest';
import { compareRowCounts, compareSequences, compareTableContents } from '../../../src/db/cutover/comparison.ts';

const round = (before: number, target: number | undefined, after: number) => {
  const of = (rows: number | undefined) => new Map(rows === undefined ? [] : [['t', rows]]);
  return compareRowCounts({ before: of(before), target: of(target), after: of(after) })[0]?.state;
};

test('a table is equal when the source did not change around the count of the target', () => {
  expect(round(5, 5, 5)).toBe('equal');
  expect(round(5, 4, 5)).toBe('differs');
  expect(round(5, undefined, 5)).toBe('differs');
});

test('a table that is written to is not comparable when the target lies between, and differs when it does not', () => {
  expect(round(5, 6, 8)).toBe('not_comparable');
  expect(round(8, 6, 5)).toBe('not_comparable');
  expect(round(5, 4, 8)).toBe('differs');
  expect(round(5, 5, 8)).toBe('not_comparable');
});

test('as many rows with other values are not equal, and a write in between makes them not comparable', () => {
  const of = (digest: string) => new Map([['t', { rows: 2, digest }]]);
  const state = (before: string, target: string, after: string) =>
    compareTableContents({ before: of(before), target: of(target), after: of(after) }, true)[0]?.state;
  expect(state('a', 'a', 'a')).toBe('equal');
  expect(state('a', 'b', 'a')).toBe('differs');
  expect(state('a', 'b', 'b')).toBe('not_comparable');
  expect(state('a', 'b', 'c')).toBe('not_comparable');
});

test('rows that are missing while the source is written to are lost only if the target has received everything', () => {
  const of = (rows: number) => new Map([['t', { rows, digest: String(rows) }]]);
  const round = { before: of(5), target: of(2), after: of(6) };
  expect(compareTableContents(round, true)[0]?.state).toBe('differs');
  expect(compareTableContents(round, false)[0]?.state).toBe('not_comparable');
});

test('a sequence whose value is not known is not called equal', () => {
  const of = (value: string | null) => new Map([['s', value]]);
  const state = (before: string | null, target: string | null, after: string | null) =>
    compareSequences(of(before), of(target), of(after))[0]?.state;
  expect(state(null, null, null)).toBe('not_compared');
  expect(state(null, '5.', null)).toBe('not_compared');
  expect(state('5.', null, '5.')).toBe('not_compared');
  expect(state(null, '5', null)).toBe('differs');
  expect(state('5', null, '5')).toBe('differs');
  expect(state(null, null, '1')).toBe('not_comparable');
});

test('a sequence that may not be read on one server is not comparable', () => {
  const of = (value: string) => new Map([['s', value]]);
  for (const [source, target] of [
    ['5', 'unreadable'],
    ['unreadable', '5'],
    ['unreadable', 'unreadable'],
  ] as const) {
    const [one] = compareSequences(of(source), of(target), of(source));
    expect(one?.state).toBe('not_comparable');
    expect([one?.source, one?.target]).not.toContain('unreadable');
  }
});

test('a sequence that was given out and one that was not are two', () => {
  const of = (value: string) => new Map([['s', value]]);
  const state = (before: string, target: string, after: string) =>
    compareSequences(of(before), of(target), of(after))[0]?.state;
  expect(state('7', '7', '7')).toBe('equal');
  expect(state('1.', '1', '1.')).toBe('differs');
  expect(state('7', '9', '12')).toBe('not_comparable');
  expect(state('7', '6', '12')).toBe('differs');
  expect(compareSequences(of('7'), new Map(), of('7'))[0]).toMatchObject({ target: null, state: 'differs' });
});
