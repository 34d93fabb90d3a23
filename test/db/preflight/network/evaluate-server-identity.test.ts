import { expect, test } from 'vitest';
import { evaluateServerIdentity } from '../../../../src/db/preflight/network/evaluate.ts';
import { healthyAddress, literal } from './sample.ts';

test.each([
  { name: 'a verified certificate', address: healthyAddress, verified: true, isEncrypted: true, status: 'pass' },
  { name: 'a certificate that was not', address: healthyAddress, verified: false, isEncrypted: true, status: 'warn' },
  { name: 'no TLS', address: healthyAddress, verified: false, isEncrypted: false, status: 'warn' },
  { name: 'this machine', address: literal('::1'), verified: false, isEncrypted: false, status: 'pass' },
])('$name: $status', ({ address, verified, isEncrypted, status }) => {
  const outcome = evaluateServerIdentity(address, { offered: 'yes', verified }, isEncrypted, 'a fix');
  expect(outcome.status).toBe(status);
  expect(outcome.fix?.text).toBe(status === 'warn' ? 'a fix' : undefined);
});
