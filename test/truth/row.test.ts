import { expect, test } from 'vitest';
import { disagreements, verdictAccuracy, worstMethod } from './row.ts';

test.each([
  ['continuous', 'continuous', 'true'],
  ['dump', 'dump', 'true'],
  ['blocked', 'blocked', 'true'],
  ['continuous', 'dump', 'false continuous'],
  ['continuous', 'blocked', 'false continuous'],
  ['dump', 'blocked', 'false promise'],
  ['scan', 'blocked', 'false promise'],
  ['dump', 'continuous', 'false blocked'],
  ['blocked', 'scan', 'false blocked'],
] as const)('%s was said and %s was true: %s', (verdict, truth, relation) => {
  expect(verdictAccuracy({ verdict, truth })).toBe(relation);
});

test('the result is the worse one of both engines', () => {
  expect(verdictAccuracy({ verdict: 'continuous', truth: 'continuous', plain: 'blocked' })).toBe('false continuous');
  expect(verdictAccuracy({ verdict: 'blocked', truth: 'continuous', plain: 'blocked' })).toBe('true');
  expect(verdictAccuracy({ verdict: 'dump', truth: 'continuous', plain: 'continuous' })).toBe('false blocked');
});

test('a verdict that the report calls unproven is no promise', () => {
  expect(verdictAccuracy({ verdict: 'continuous', truth: 'blocked', unproven: ['not-valid'] })).toBe('not proven');
  expect(verdictAccuracy({ verdict: 'continuous', truth: 'continuous', unproven: ['not-valid'] })).toBe('true');
});

test('a server is as good as its worst database', () => {
  expect(worstMethod(['continuous', 'dump', 'continuous'])).toBe('dump');
  expect(worstMethod(['dump', 'blocked'])).toBe('blocked');
  expect(worstMethod([])).toBe('continuous');
});

test('a database with a wrong verdict is listed, whichever way it is wrong', () => {
  const databases = [
    { name: 'd1', verdict: 'dump', truth: 'continuous' },
    { name: 'd2', verdict: 'continuous', truth: 'continuous' },
    { name: 'd3', verdict: 'continuous', truth: 'blocked' },
  ] as const;
  expect(disagreements({ databases })).toEqual([
    'd1: dump was said, continuous was true',
    'd3: continuous was said, blocked was true',
  ]);
});
