import { expect, test } from 'vitest';
import { tcpConnectCheck } from '../../../../src/preflight/postgresql/checks/tcp-connect.ts';
import { healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

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

test.each([
  ['57P05', 'idle_session_timeout'],
  ['57014', 'statement_timeout'],
  ['58P01', 'session_preload_libraries'],
])('a login that ends with %s is told the setting %s', (code, setting) => {
  expect(outcomeOf(tcpConnectCheck, refusedFacts(code)).fix?.text).toContain(setting);
});

test('a connection that ends while the server is asked promises nothing', () => {
  const outcome = outcomeOf(tcpConnectCheck, { ...healthyFacts, lost: 'the connection was closed by the other side' });
  expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
});
