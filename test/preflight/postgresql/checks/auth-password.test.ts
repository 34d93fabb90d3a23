import { describe, expect, test } from 'vitest';
import { authPasswordCheck } from '../../../../src/preflight/postgresql/checks/auth-password.ts';
import { expectText } from '../expect-text.ts';
import { entered, healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

const odd = { username: 'o"d\'d', dbname: 'My-DB "x"' };

describe('auth-password', () => {
  test('tells that three faults look the same, and cures only the one that a statement can', () => {
    const { detail, fix } = outcomeOf(authPasswordCheck, refusedFacts('28P01', undefined, odd));
    expectText(detail);
    expect(fix?.sql?.[0]).toContain('rolvaliduntil < now()');
    expect(fix?.text).toContain(`ALTER ROLE "o""d'd" VALID UNTIL 'infinity'`);
  });
  test('a password that nobody asked for is not proven right for a service that comes from elsewhere', () => {
    const unasked = { ...healthyFacts, connection: { ...entered, passwordAsked: false } };
    expect(outcomeOf(authPasswordCheck, unasked, { isOverInternet: true }).status).toBe('unknown');
    expect(outcomeOf(authPasswordCheck, unasked, { isOverInternet: false }).status).toBe('pass');
    expect(outcomeOf(authPasswordCheck, healthyFacts, { isOverInternet: true }).status).toBe('pass');
  });
  test('names the ways to give one that is missing', () => {
    expect(outcomeOf(authPasswordCheck, refusedFacts('NO_PASSWORD')).fix?.text).toContain('--password-stdin');
  });
});
