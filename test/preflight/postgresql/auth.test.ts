import { describe, expect, test } from 'vitest';
import { authHbaCheck } from '../../../src/preflight/postgresql/checks/auth-hba.ts';
import { authPasswordCheck } from '../../../src/preflight/postgresql/checks/auth-password.ts';
import { dbExistsCheck } from '../../../src/preflight/postgresql/checks/db-exists.ts';
import { replConnectionCheck } from '../../../src/preflight/postgresql/checks/repl-connection.ts';
import { entered, healthyFacts, outcomeOf, refusedFacts } from './login-facts.ts';

const odd = { username: 'o"d\'d', dbname: 'My-DB "x"' };

describe('auth-password', () => {
  test('tells that three faults look the same, and cures only the one that a statement can', () => {
    const { detail, fix } = outcomeOf(authPasswordCheck, refusedFacts('28P01', undefined, odd));
    expect(detail).toMatch(/wrong password.*does not exist.*VALID UNTIL/);
    expect(fix?.sql?.[0]).toContain('rolvaliduntil < now()');
    expect(fix?.text).toContain(`ALTER ROLE "o""d'd" VALID UNTIL 'infinity'`);
  });
  test('a password that nobody asked for is not proven right for a service that comes from elsewhere', () => {
    const unasked = { ...healthyFacts, connection: { ...entered, passwordAsked: false } };
    expect(outcomeOf(authPasswordCheck, unasked, { asPublic: true }).status).toBe('unknown');
    expect(outcomeOf(authPasswordCheck, unasked, { asPublic: false }).status).toBe('pass');
    expect(outcomeOf(authPasswordCheck, healthyFacts, { asPublic: true }).status).toBe('pass');
  });
  test('names the ways to give one that is missing', () => {
    expect(outcomeOf(authPasswordCheck, refusedFacts('NO_PASSWORD')).fix?.text).toContain('--password-stdin');
  });
});

describe('auth-hba', () => {
  test('gives the rule to add, quoted, and a reload', () => {
    const { fix } = outcomeOf(authHbaCheck, refusedFacts('28000', 'нет записи в pg_hba.conf', odd));
    expect(fix).toMatchObject({ reload: true });
    expect(fix?.shell).toContain(`host  all  "o""d'd"  0.0.0.0/0  scram-sha-256`);
    expect(fix?.undoShell).toHaveLength(1);
  });
  test('a certificate is asked for by a rule, not by the role', () => {
    const { fix, required } = outcomeOf(
      authHbaCheck,
      refusedFacts('28000', 'connection requires a valid client certificate'),
    );
    expect(required).toContain('a rule for this user');
    expect(fix?.sql).toBeUndefined();
    expect(fix).toMatchObject({ reload: true });
  });
  test.each(['Ident', 'Peer', 'GSSAPI'])('%s is asked for by a rule, not by the role', (method) => {
    const { fix } = outcomeOf(authHbaCheck, refusedFacts('28000', `${method} authentication failed for user "u"`));
    expect(fix?.sql).toBeUndefined();
    expect(fix?.shell?.at(-1)).toContain('scram-sha-256');
  });
  test.each(['LDAP', 'PAM', 'RADIUS'])('a password that %s keeps is no matter of LOGIN', (method) => {
    const { fix, required } = outcomeOf(
      authHbaCheck,
      refusedFacts('28000', `${method} authentication failed for user "u"`),
    );
    expect(required).toBe(`the password that ${method} knows`);
    expect(fix?.sql).toBeUndefined();
  });
  test('lets a role log in, and takes that back', () => {
    expect(outcomeOf(authHbaCheck, refusedFacts('28000', 'role "u" is not permitted to log in')).fix).toMatchObject({
      sql: ['ALTER ROLE "u" LOGIN'],
      undo: ['ALTER ROLE "u" NOLOGIN'],
    });
  });
});

describe('db-exists', () => {
  test.each([
    [
      '42501',
      `GRANT CONNECT ON DATABASE "My-DB ""x""" TO "o""d'd"`,
      `REVOKE CONNECT ON DATABASE "My-DB ""x""" FROM "o""d'd"`,
    ],
    [
      '55000',
      'ALTER DATABASE "My-DB ""x""" WITH ALLOW_CONNECTIONS true',
      'ALTER DATABASE "My-DB ""x""" WITH ALLOW_CONNECTIONS false',
    ],
  ])('%s has its statement and its way back', (code, sql, undo) => {
    expect(outcomeOf(dbExistsCheck, refusedFacts(code, undefined, odd)).fix).toMatchObject({
      sql: [sql],
      undo: [undo],
    });
  });
  test('a name that is wrong has none', () => {
    expect(outcomeOf(dbExistsCheck, refusedFacts('3D000')).fix?.sql).toBeUndefined();
  });
});

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

test('a first question that is denied is no want of CONNECT', () => {
  const entry = { kind: 'refused', code: '42501', message: 'permission denied for function pg_backend_pid' } as const;
  const { fix, detail } = outcomeOf(dbExistsCheck, { ...healthyFacts, connection: { ...entry, asked: true } });
  expect(detail).toContain('The login was let in');
  expect(fix?.sql?.at(-1)).toContain('GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid()');
  expect(outcomeOf(dbExistsCheck, { ...healthyFacts, connection: entry }).fix?.sql?.[0]).toContain('GRANT CONNECT');
});
