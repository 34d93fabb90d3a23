import { describe, expect, test } from 'vitest';
import { tlsCertCheck } from '../../../../../src/db/preflight/postgresql/checks/tls-cert.ts';
import { healthyWish } from '../../network/sample.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

const day = 86_400_000;

const off = { disableSsl: true };

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
