import { describe, expect, test } from 'vitest';
import { authMethodCheck } from '../../../../../src/db/preflight/postgresql/checks/auth-method.ts';
import { literal } from '../../network/sample.ts';
import { entered, healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

describe('auth-method', () => {
  test.each([
    ['scram-sha-256', 'pass'],
    ['scram-sha-256-plus', 'pass'],
    ['none', 'pass'],
    ['md5', 'warn'],
    ['password', 'warn'],
  ] as const)('%s: %s', (authentication, status) => {
    const facts = { ...healthyFacts, connection: { ...entered, authentication } };
    expect(outcomeOf(authMethodCheck, facts).status).toBe(status);
  });

  test('clear text is good enough for a verified server and on this machine', () => {
    const facts = { ...healthyFacts, connection: { ...entered, authentication: 'password' } } as const;
    const verified = { ...facts, tls: { ...facts.tls, verified: true } };
    expect(outcomeOf(authMethodCheck, verified).status).toBe('pass');
    expect(outcomeOf(authMethodCheck, { ...facts, address: literal('127.0.0.1') }).status).toBe('pass');
  });

  test('a refused request is a blocker that names the options', () => {
    const { status, blocks, fix } = outcomeOf(authMethodCheck, refusedFacts('CLEARTEXT_PASSWORD'));
    expect([status, blocks]).toEqual(['fail', ['continuous', 'dump']]);
    expect(fix?.text).toMatch(/--ca-file.*--allow-cleartext-password/);
  });

  test.each(['SERVER_PROOF', 'CHANNEL_BINDING', 'WEAK_SCRAM'])('%s has a headline of its own', (code) => {
    const { status, headline } = outcomeOf(authMethodCheck, refusedFacts(code));
    expect(status).toBe('fail');
    expect(headline).not.toBe(outcomeOf(authMethodCheck, refusedFacts('CLEARTEXT_PASSWORD')).headline);
  });

  test('is skipped when an earlier step failed, and passes when a later one did', () => {
    expect(outcomeOf(authMethodCheck, refusedFacts('NO_TLS')).status).toBe('skip');
    expect(outcomeOf(authMethodCheck, refusedFacts('28P01')).status).toBe('pass');
  });
});
