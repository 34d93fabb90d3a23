import { describe, expect, test } from 'vitest';
import { tlsNegotiateCheck } from '../../../../../src/db/preflight/postgresql/checks/tls-negotiate.ts';
import { literal } from '../../network/sample.ts';
import { expectText } from '../expect-text.ts';
import { healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

const off = { disableSsl: true };

const local = { ...healthyFacts, address: literal('127.0.0.1') };

describe('tls-negotiate', () => {
  test('reports the negotiated version', () => {
    expect(outcomeOf(tlsNegotiateCheck, healthyFacts)).toMatchObject({ status: 'pass', observed: 'TLSv1.3' });
  });
  test.each(['self-signed certificate', "IP: 127.0.0.1 is not in the cert's list: ", 'certificate has expired'])(
    'what our own verification refuses, %s, is not said of the service',
    (message) => {
      const { detail } = outcomeOf(tlsNegotiateCheck, refusedFacts('TLS', message));
      expectText(detail);
    },
  );
  test.each(['tlsv1 alert protocol version', 'the connection was closed during the TLS handshake'])(
    'what the server refuses, %s, the service would meet too',
    (message) => {
      expectText(outcomeOf(tlsNegotiateCheck, refusedFacts('TLS', message)).detail);
    },
  );
  test('without TLS on the server gives the setting, its way back and a reload', () => {
    const { fix, detail } = outcomeOf(
      tlsNegotiateCheck,
      refusedFacts('NO_TLS', undefined, { tls: { offered: 'no', plaintext: 'accepted' } }),
    );
    expect(fix).toMatchObject({
      shell: expect.arrayContaining([expect.stringMatching(/^test -s server\.crt .*ALTER SYSTEM SET ssl = 'on'/)]),
      undoShell: [expect.stringContaining("ALTER SYSTEM SET ssl = 'off'")],
      reload: true,
    });
    // Without a certificate the server would not start again, so no script sets it by itself.
    expect(fix?.sql).toBeUndefined();
    expectText(detail);
  });
  test('does not promise a login without TLS that the host rules refuse', () => {
    const { detail } = outcomeOf(
      tlsNegotiateCheck,
      refusedFacts('NO_TLS', undefined, { tls: { offered: 'no', plaintext: 'refused' } }),
    );
    expectText(detail);
  });
  test('with --disable-ssl it warns on a network and passes on the same machine', () => {
    expect(outcomeOf(tlsNegotiateCheck, healthyFacts, off)).toMatchObject({ status: 'warn' });
    expectText(outcomeOf(tlsNegotiateCheck, healthyFacts, off).fix?.text);
    expect(outcomeOf(tlsNegotiateCheck, local, off).status).toBe('pass');
  });
});
