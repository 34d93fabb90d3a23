import { expect, test } from 'vitest';
import {
  buildLoopbackHttpMethodRefusal,
  buildLoopbackRefusal,
  loopbackRefusalStatusCodes,
} from '../../../src/auth/loopback/refusal.ts';

test('every refusal has a status of its kind: the client was wrong', () => {
  for (const status of Object.values(loopbackRefusalStatusCodes)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
});

test('rule 10: a refused method names the one that is allowed, no other refusal does', () => {
  expect(buildLoopbackHttpMethodRefusal('POST')).toEqual({
    kind: 'refuse',
    reason: 'method_not_allowed',
    allow: 'POST',
  });
  expect(buildLoopbackRefusal('not_found')).toEqual({ kind: 'refuse', reason: 'not_found' });
});
