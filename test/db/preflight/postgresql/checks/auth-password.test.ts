import { describe, expect, test } from 'vitest';
import { authPasswordCheck } from '../../../../../src/db/preflight/postgresql/checks/auth-password.ts';
import { expectText } from '../expect-text.ts';
import { entered, healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

const odd = { username: 'o"d\'d', dbname: 'My-DB "x"' };

describe('auth-password', () => {
  test('names three causes of the same error and fixes the one that SQL can fix', () => {
    const { detail, fix } = outcomeOf(authPasswordCheck, refusedFacts('28P01', undefined, odd));
    expectText(detail);
    expect(fix?.sql?.[0]).toContain('rolvaliduntil < now()');
    expect(fix?.text).toContain(`ALTER ROLE "o""d'd" VALID UNTIL 'infinity'`);
  });
  test('a password that the server did not request is not verified for a service at another address', () => {
    const unasked = { ...healthyFacts, connection: { ...entered, authentication: 'none' as const } };
    expect(outcomeOf(authPasswordCheck, unasked, { isOverInternet: true }).status).toBe('unknown');
    expect(outcomeOf(authPasswordCheck, unasked, { isOverInternet: false }).status).toBe('pass');
    expect(outcomeOf(authPasswordCheck, healthyFacts, { isOverInternet: true }).status).toBe('pass');
  });
  test('names the ways to give one that is missing', () => {
    expect(outcomeOf(authPasswordCheck, refusedFacts('NO_PASSWORD')).fix?.text).toContain('--password-stdin');
  });
});
