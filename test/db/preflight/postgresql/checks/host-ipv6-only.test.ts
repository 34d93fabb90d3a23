import { expect, test } from 'vitest';
import { postgresqlHostIpv6OnlyCheck } from '../../../../../src/db/preflight/postgresql/checks/host-ipv6-only.ts';
import { literal } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

test.each([
  ['8.8.4.4', 'pass'],
  ['2606:4700::1', 'warn'],
])('%s: %s', (host, status) => {
  expect(outcomeOf(postgresqlHostIpv6OnlyCheck, { ...healthyFacts, address: literal(host) }).status).toBe(status);
});
