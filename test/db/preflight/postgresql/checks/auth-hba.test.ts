import { describe, expect, test } from 'vitest';
import { authHbaCheck } from '../../../../../src/db/preflight/postgresql/checks/auth-hba.ts';
import { expectText } from '../expect-text.ts';
import { outcomeOf, refusedFacts } from '../login-facts.ts';

const odd = { username: 'o"d\'d', dbname: 'My-DB "x"' };

describe('auth-hba', () => {
  test('gives the rule to add, quoted, and a reload', () => {
    const { fix } = outcomeOf(authHbaCheck, refusedFacts('28000', 'нет записи в pg_hba.conf', odd));
    expect(fix).toMatchObject({ reload: true });
    expect(fix?.shell).toContain(`host  all  "o""d'd"  0.0.0.0/0  scram-sha-256`);
    expect(fix?.undoShell).toHaveLength(1);
  });
  test('a client certificate is required by a rule, not by the role', () => {
    const { fix, required } = outcomeOf(
      authHbaCheck,
      refusedFacts('28000', 'connection requires a valid client certificate'),
    );
    expectText(required);
    expect(fix?.sql).toBeUndefined();
    expect(fix).toMatchObject({ reload: true });
  });
  test.each(['Ident', 'Peer', 'GSSAPI'])('%s is required by a rule, not by the role', (method) => {
    const { fix } = outcomeOf(authHbaCheck, refusedFacts('28000', `${method} authentication failed for user "u"`));
    expect(fix?.sql).toBeUndefined();
    expect(fix?.shell?.at(-1)).toContain('scram-sha-256');
  });
  test.each(['LDAP', 'PAM', 'RADIUS'])('a password in %s is not fixed by LOGIN', (method) => {
    const { fix, required } = outcomeOf(
      authHbaCheck,
      refusedFacts('28000', `${method} authentication failed for user "u"`),
    );
    expectText(required);
    expect(required).toContain(method);
    expect(fix?.sql).toBeUndefined();
  });
  test('lets a role log in, and takes that back', () => {
    expect(outcomeOf(authHbaCheck, refusedFacts('28000', 'role "u" is not permitted to log in')).fix).toMatchObject({
      sql: ['ALTER ROLE "u" LOGIN'],
      undo: ['ALTER ROLE "u" NOLOGIN'],
    });
  });
});
