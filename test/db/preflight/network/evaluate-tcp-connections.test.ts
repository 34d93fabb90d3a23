import { expect, test } from 'vitest';
import type { ConnectAttempt } from '../../../../src/db/preflight/network/addresses.ts';
import { evaluateConnections } from '../../../../src/db/preflight/network/evaluate.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { outcomeText } from '../outcome-text.ts';
import { failed, healthyAddress } from './sample.ts';

const every = ['continuous', 'scan'] as const;
const v4 = { address: '8.8.4.4', took: 5 };
const v6 = { address: '2606:4700::1', took: 5 };

test.each<[string, readonly ConnectAttempt[], string]>([
  ['an accepted connection', [v4], 'pass'],
  ['two accepted connections', [v4, v6], 'pass'],
  ['a refusal', [{ ...v4, error: 'ECONNREFUSED' }], 'fail'],
  ['no response', [{ ...v4, took: 5001, error: 'ETIMEDOUT' }], 'fail'],
  ['no route', [{ ...v4, error: 'EHOSTUNREACH' }], 'fail'],
  ['a second address that is refused', [v4, { ...v6, error: 'ECONNREFUSED' }], 'warn'],
  ['a second address without a route from this machine', [v4, { ...v6, error: 'ENETUNREACH' }], 'pass'],
])('%s', (_what, connects, status) => {
  const outcome = evaluateConnections({ ...healthyAddress, connects }, every);
  expect(outcome.status).toBe(status);
  expectGolden('db-preflight-network', outcomeText(outcome));
  expect(outcome.blocks).toEqual(status === 'fail' ? every : []);
});

test('a host without an address is skipped, because another check fails', () => {
  expect(evaluateConnections({ ...healthyAddress, lookup: failed(), connects: [] }, every).status).toBe('skip');
});
