import { expect, test } from 'vitest';
import { evaluateTcpConnections } from '../../../src/preflight/network/evaluate-tcp-connections.ts';
import type { ConnectAttempt } from '../../../src/preflight/network/network-facts.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { failed, healthyAddress } from './sample.ts';

const every = ['continuous', 'scan'] as const;
const v4 = { address: '8.8.4.4', took: 5 };
const v6 = { address: '2606:4700::1', took: 5 };

test.each<[string, readonly ConnectAttempt[], string, RegExp]>([
  ['an accepted connection', [v4], 'pass', /8\.8\.4\.4:5432 in 5 ms/],
  ['two accepted connections', [v4, v6], 'pass', /\[2606:4700::1\]:5432/],
  ['a refusal', [{ ...v4, error: 'ECONNREFUSED' }], 'fail', /refused.*listen_addresses/s],
  ['no response', [{ ...v4, took: 5001, error: 'ETIMEDOUT' }], 'fail', /within 5 s.*firewall/s],
  ['no route', [{ ...v4, error: 'EHOSTUNREACH' }], 'fail', /no route/],
  ['a second address that is refused', [v4, { ...v6, error: 'ECONNREFUSED' }], 'warn', /2606:4700::1/],
  ['a second address without a route from this machine', [v4, { ...v6, error: 'ENETUNREACH' }], 'pass', /1 of 2/],
])('%s', (_what, connects, status, words) => {
  const outcome = evaluateTcpConnections({ ...healthyAddress, connects }, every);
  expect(outcome.status).toBe(status);
  expect([outcome.observed, outcome.detail, outcome.fix?.text].join(' ')).toMatch(words);
  expectGolden('db-preflight-network', JSON.stringify(outcome, null, 1));
  expect(outcome.blocks).toEqual(status === 'fail' ? every : []);
});

test('a host without an address is skipped, because another check fails', () => {
  expect(evaluateTcpConnections({ ...healthyAddress, lookup: failed(), connects: [] }, every).status).toBe('skip');
});
