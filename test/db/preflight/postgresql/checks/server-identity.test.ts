import { describe, expect, test } from 'vitest';
import { postgresqlServerIdentityVerifiedCheck as check } from '../../../../../src/db/preflight/postgresql/checks/server-identity.ts';
import { literal } from '../../network/sample.ts';
import { entered, healthyFacts, outcomeOf } from '../login-facts.ts';

describe('server-identity', () => {
  const unverified = healthyFacts;
  test.each([
    ['a certificate that was not verified', unverified, 'warn'],
    ['no TLS', { ...unverified, connection: { ...entered, ssl: false } }, 'warn'],
    ['a verified certificate', { ...unverified, tls: { ...unverified.tls, verified: true } }, 'pass'],
    [
      'a password that is bound to the certificate',
      { ...unverified, connection: { ...entered, authentication: 'scram-sha-256-plus' as const } },
      'pass',
    ],
    ['a server on this machine', { ...unverified, address: literal('127.0.0.1') }, 'pass'],
  ] as const)('%s: $2', (_name, facts, status) => {
    expect(outcomeOf(check, facts).status).toBe(status);
  });
  test('never blocks', () => expect(check.mayBlock).toEqual([]));
});
