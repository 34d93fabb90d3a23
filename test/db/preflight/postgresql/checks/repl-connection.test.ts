import { describe, expect, test } from 'vitest';
import { replConnectionCheck } from '../../../../../src/db/preflight/postgresql/checks/repl-connection.ts';
import { expectText } from '../expect-text.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

describe('repl-connection', () => {
  const refused = (code: string) => ({
    ...healthyFacts,
    replication: { kind: 'refused', code, message: 'the words' } as const,
  });
  test('passes when IDENTIFY_SYSTEM is answered', () => {
    expect(outcomeOf(replConnectionCheck, healthyFacts).status).toBe('pass');
  });
  test('is skipped without an attempt', () => {
    expect(outcomeOf(replConnectionCheck, { ...healthyFacts, replication: undefined }).status).toBe('skip');
  });
  test.each(['42501', '53300', '08P01', '28000'])(
    'a rejection with %s blocks the continuous method only and has a fix',
    (code) => {
      const outcome = outcomeOf(replConnectionCheck, refused(code));
      expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous'], observed: 'the words' });
      expectText(outcome.fix?.text);
    },
  );
  test('the role is altered and altered back', () => {
    expect(outcomeOf(replConnectionCheck, { ...refused('42501'), username: 'o"d' }).fix).toMatchObject({
      sql: ['ALTER ROLE "o""d" REPLICATION'],
      undo: ['ALTER ROLE "o""d" NOREPLICATION'],
    });
  });
});
