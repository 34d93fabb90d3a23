import { describe, expect, test } from 'vitest';
import { postgresqlHostIpv6OnlyCheck } from '../../../src/preflight/postgresql/checks/host-ipv6-only.ts';
import { hostParseCheck } from '../../../src/preflight/postgresql/checks/host-parse.ts';
import { postgresqlHostPublicAddressCheck } from '../../../src/preflight/postgresql/checks/host-public-address.ts';
import { postgresqlHostSplitHorizonCheck } from '../../../src/preflight/postgresql/checks/host-split-horizon.ts';
import { portDefaultCheck } from '../../../src/preflight/postgresql/checks/port-default.ts';
import { selfTargetCheck } from '../../../src/preflight/postgresql/checks/self-target.ts';
import { tcpConnectCheck } from '../../../src/preflight/postgresql/checks/tcp-connect.ts';
import { healthyAddress, literal } from '../network/sample.ts';
import { healthyFacts, outcomeOf, refusedFacts } from './login-facts.ts';

test('a healthy host leaves every check of the address silent', () => {
  const checks = [
    hostParseCheck,
    postgresqlHostPublicAddressCheck,
    postgresqlHostSplitHorizonCheck,
    postgresqlHostIpv6OnlyCheck,
    tcpConnectCheck,
    portDefaultCheck,
    selfTargetCheck,
  ];
  expect(checks.map((check) => [check.id, outcomeOf(check, healthyFacts).status])).toEqual(
    checks.map(({ id }) => [id, id === 'self-target' ? 'skip' : 'pass']),
  );
});

test('contradictions block both methods', () => {
  const ground = { ...healthyFacts, address: { ...healthyAddress, contradictions: ['x'] } };
  expect(outcomeOf(hostParseCheck, ground)).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
});

test('a private address blocks both methods', () => {
  const ground = { ...healthyFacts, address: literal('10.0.0.5') };
  expect(outcomeOf(postgresqlHostPublicAddressCheck, ground)).toMatchObject({
    status: 'fail',
    blocks: ['continuous', 'dump'],
  });
});

test.each([
  ['57P03', /Wait/],
  ['53300', /max_connections/],
  ['P0001', /login event trigger/],
  ['ETIMEDOUT', /log of the server/],
  ['ECONNRESET', /log of the server/],
  ['XX000', /log of the server/],
])('tcp-connect has a cure for %s', (code, cure) => {
  expect(outcomeOf(tcpConnectCheck, refusedFacts(code)).fix?.text).toMatch(cure);
});

test.each([25060, 25061, 6432, 6543])('port %d is remarkable', (port) => {
  expect(outcomeOf(portDefaultCheck, { ...healthyFacts, address: { ...healthyAddress, port } }).status).toBe('info');
});

describe('self-target', () => {
  test.each([
    ['DB.example.com.', 5432, 'fail'],
    ['8.8.4.4', 5432, 'fail'],
    ['db.example.com', 5433, 'pass'],
    ['other.example.com', 5432, 'pass'],
  ])('%s:%d is %s', (host, port, status) => {
    expect(outcomeOf(selfTargetCheck, healthyFacts, { target: { host, port } }).status).toBe(status);
  });
});
