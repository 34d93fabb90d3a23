import { expect, test } from 'vitest';
import { tcpConnectCheck } from '../../../../../src/db/preflight/postgresql/checks/tcp-connect.ts';
import { expectText } from '../expect-text.ts';
import { healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

test.each(['57P03', '53300', 'P0001', 'ETIMEDOUT', 'ECONNRESET', 'XX000'])('tcp-connect has a fix for %s', (code) => {
  expectText(outcomeOf(tcpConnectCheck, refusedFacts(code)).fix?.text);
});

test.each([
  ['57P05', 'idle_session_timeout'],
  ['57014', 'statement_timeout'],
  ['58P01', 'session_preload_libraries'],
])('a login that ends with %s is answered with the setting %s', (code, setting) => {
  expect(outcomeOf(tcpConnectCheck, refusedFacts(code)).fix?.text).toContain(setting);
});

test('a connection lost during the queries blocks both methods', () => {
  const outcome = outcomeOf(tcpConnectCheck, { ...healthyFacts, lost: 'the connection was closed by the other side' });
  expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
});
