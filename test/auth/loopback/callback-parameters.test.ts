import { expect, test } from 'vitest';
import { parseCallbackParameters } from '../../../src/auth/loopback/callback-parameters.ts';

test('names and values are decoded as a form', () => {
  expect([...(parseCallbackParameters('a=1&b=x+y%20z&c=&d&%65=2') ?? [])]).toEqual([
    ['a', '1'],
    ['b', 'x y z'],
    ['c', ''],
    ['d', ''],
    ['e', '2'],
  ]);
  expect(parseCallbackParameters('')?.size).toBe(0);
});

test.each(['a=1&a=1', 'a=1&%61=2', 'a&a', 'x=1&y=2&x=3'])(
  'rule 16: a parameter that comes twice spoils the whole: %s',
  (raw) => {
    expect(parseCallbackParameters(raw)).toBeUndefined();
  },
);
