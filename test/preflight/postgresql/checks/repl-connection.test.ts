import { describe, expect, test } from 'vitest';
import { replConnectionCheck } from '../../../../src/preflight/postgresql/checks/repl-connection.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

describe('repl-connection', () => {
  const refused = (code: string) => ({
    ...healthyFacts,
    replication: { kind: 'refused', code, message: 'the words' } as const,
  });
  test('passes when IDENTIFY_SYSTEM is answered', () => {
    expect(outcomeOf(replConnectionCheck, healthyFacts).status).toBe('pass');
  });
  test('is skipped when nobody tried', () => {
    expect(outcomeOf(replConnectionCheck, { ...healthyFacts, replication: undefined }).status).toBe('skip');
  });
  test.each([
    ['42501', /REPLICATION/],
    ['53300', /max_wal_senders/],
    ['08P01', /the server itself/],
    ['28000', /host rule/],
  ])('a refusal of %s blocks the continuous method alone, with its cure', (code, cure) => {
    const outcome = outcomeOf(replConnectionCheck, refused(code));
    expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous'], observed: 'the words' });
    expect(outcome.fix?.text).toMatch(cure);
  });
  test('the role is altered and altered back', () => {
    expect(outcomeOf(replConnectionCheck, { ...refused('42501'), username: 'o"d' }).fix).toMatchObject({
      sql: ['ALTER ROLE "o""d" REPLICATION'],
      undo: ['ALTER ROLE "o""d" NOREPLICATION'],
    });
  });
});
