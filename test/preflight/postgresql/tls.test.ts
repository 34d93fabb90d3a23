import { describe, expect, test } from 'vitest';
import { tlsCertCheck } from '../../../src/preflight/postgresql/checks/tls-cert.ts';
import { tlsNegotiateCheck } from '../../../src/preflight/postgresql/checks/tls-negotiate.ts';
import { tlsRequiredCheck } from '../../../src/preflight/postgresql/checks/tls-required.ts';
import { healthyWish, literal } from '../network/sample.ts';
import { healthyFacts, outcomeOf, refusedFacts } from './login-facts.ts';

const day = 86_400_000;
const off = { disableSsl: true };
const local = { ...healthyFacts, address: literal('127.0.0.1') };

describe('tls-negotiate', () => {
  test('tells what was agreed', () => {
    expect(outcomeOf(tlsNegotiateCheck, healthyFacts)).toMatchObject({ status: 'pass', observed: 'TLSv1.3' });
  });
  test.each(['self-signed certificate', "IP: 127.0.0.1 is not in the cert's list: ", 'certificate has expired'])(
    'what our own verification refuses, %s, is not said of the service',
    (message) => {
      const { detail } = outcomeOf(tlsNegotiateCheck, refusedFacts('TLS', message));
      expect(detail).toContain('The service encrypts and does not verify');
    },
  );
  test.each(['tlsv1 alert protocol version', 'the connection was closed during the TLS handshake'])(
    'what the server refuses, %s, the service would meet too',
    (message) => {
      expect(outcomeOf(tlsNegotiateCheck, refusedFacts('TLS', message)).detail).toContain('the service would fail');
    },
  );
  test('without TLS on the server gives the setting, its way back and a reload', () => {
    const { fix, detail } = outcomeOf(
      tlsNegotiateCheck,
      refusedFacts('NO_TLS', undefined, { tls: { offered: 'no', plaintext: 'accepted' } }),
    );
    expect(fix).toMatchObject({
      sql: ["ALTER SYSTEM SET ssl = 'on'"],
      undo: ["ALTER SYSTEM SET ssl = 'off'"],
      reload: true,
    });
    expect(detail).toContain('would take this login without TLS');
  });
  test('does not promise a login without TLS that the host rules refuse', () => {
    const { detail } = outcomeOf(
      tlsNegotiateCheck,
      refusedFacts('NO_TLS', undefined, { tls: { offered: 'no', plaintext: 'refused' } }),
    );
    expect(detail).not.toContain('would take');
  });
  test('asked to do without, warns through a network and is silent on the machine', () => {
    expect(outcomeOf(tlsNegotiateCheck, healthyFacts, off)).toMatchObject({ status: 'warn' });
    expect(outcomeOf(tlsNegotiateCheck, healthyFacts, off).fix?.text).toContain('offers TLS');
    expect(outcomeOf(tlsNegotiateCheck, local, off).status).toBe('pass');
  });
});

describe('tls-required', () => {
  test('names the option to leave out', () => {
    const ground = refusedFacts('28000', 'no pg_hba.conf entry', { tls: { offered: 'yes', plaintext: 'refused' } });
    expect(outcomeOf(tlsRequiredCheck, ground, off)).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
    expect(outcomeOf(tlsRequiredCheck, ground, off).fix?.text).toContain('--disable-ssl');
  });
});

describe('tls-cert', () => {
  const until = (left: number) => ({
    ...healthyFacts,
    tls: {
      ...healthyFacts.tls,
      certificate: { subject: 'CN=db', issuer: 'CN=db', selfSigned: true, validTo: healthyWish.now + left },
    },
  });
  test.each([
    [15 * day, 'pass', 'valid until 2030-01-16, self-signed'],
    [14 * day, 'pass', 'valid until 2030-01-15, self-signed'],
    [14 * day - 1, 'warn', 'valid until 2030-01-14, self-signed'],
    [-day, 'warn', 'expired on 2029-12-31, self-signed'],
  ])('with %d ms left: %s, %s', (left, status, observed) => {
    expect(outcomeOf(tlsCertCheck, until(left))).toMatchObject({ status, observed });
  });
  test('is skipped without TLS and without a certificate', () => {
    expect(outcomeOf(tlsCertCheck, until(-day), off).status).toBe('skip');
    expect(outcomeOf(tlsCertCheck, { ...healthyFacts, tls: { offered: 'not_asked' } }).status).toBe('skip');
  });
});
