import { expect, test } from 'vitest';
import { decodeFault } from '../../../src/sandbox/faults/decode-fault.ts';

const decode = (fault: object) => decodeFault(new Map(Object.entries(fault)));

test('a valid fault is returned with its members only', () => {
  const fault = { match: { method: 'POST', path: '/v2/*' }, action: 'delay', nth: 2, times: 3, delay: '2s' };
  expect(decode(fault)).toEqual({ ...fault, delay: 2000 });
});

test.each([
  { match: {}, action: 'reset' },
  { match: { path: '/' }, action: 'explode' },
  { match: { path: '/' }, action: 'delay' },
  { match: { path: '/' }, action: 'reset', status: 500 },
  { match: { path: '/' }, action: 'reset', nth: 0 },
  { match: { host: 'x' }, action: 'reset' },
  { match: { path: '/' }, action: 'reset', other: 1 },
])('%j is an error message', (fault) => {
  expect(decode(fault)).toBeTypeOf('string');
});
