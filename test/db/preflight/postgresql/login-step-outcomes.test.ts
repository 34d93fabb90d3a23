import { describe, expect, test } from 'vitest';
import { authHbaCheck } from '../../../../src/db/preflight/postgresql/checks/auth-hba.ts';
import { authPasswordCheck } from '../../../../src/db/preflight/postgresql/checks/auth-password.ts';
import { dbExistsCheck } from '../../../../src/db/preflight/postgresql/checks/db-exists.ts';
import { notPostgresCheck } from '../../../../src/db/preflight/postgresql/checks/not-postgres.ts';
import { poolerDetectedCheck } from '../../../../src/db/preflight/postgresql/checks/pooler-detected.ts';
import { tcpConnectCheck } from '../../../../src/db/preflight/postgresql/checks/tcp-connect.ts';
import { tlsNegotiateCheck } from '../../../../src/db/preflight/postgresql/checks/tls-negotiate.ts';
import { tlsRequiredCheck } from '../../../../src/db/preflight/postgresql/checks/tls-required.ts';
import type { PostgresqlFacts } from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { healthyAddress } from '../network/sample.ts';
import { healthyFacts, idsThatFail, outcomeOf, refusedFacts } from './login-facts.ts';

const gates = [
  tcpConnectCheck,
  tlsNegotiateCheck,
  tlsRequiredCheck,
  authPasswordCheck,
  authHbaCheck,
  dbExistsCheck,
  notPostgresCheck,
  poolerDetectedCheck,
];

const noRule = 'no pg_hba.conf entry for host "1.2.3.4", user "u", database "d1", no encryption';

function refused(address: PostgresqlFacts['address']): PostgresqlFacts {
  return {
    ...healthyFacts,
    address,
    connection: { kind: 'unreachable', code: 'ECONNREFUSED', message: 'connection refused' },
  };
}

describe('a refusal', () => {
  test.each<[string, PostgresqlFacts, string]>([
    [
      'connection refused',
      refused({ ...healthyAddress, connects: [{ address: '8.8.4.4', took: 1, error: 'ECONNREFUSED' }] }),
      'tcp-connect',
    ],
    ['a session that is not answered', refusedFacts('ETIMEDOUT'), 'tcp-connect'],
    ['a session that is closed', refusedFacts('ECONNRESET'), 'tcp-connect'],
    ['a server that starts', refusedFacts('57P03'), 'tcp-connect'],
    ['no connection left', refusedFacts('53300'), 'tcp-connect'],
    ['anything nobody knows', refusedFacts('XX000'), 'tcp-connect'],
    ['no TLS', refusedFacts('NO_TLS'), 'tls-negotiate'],
    ['a broken handshake', refusedFacts('TLS'), 'tls-negotiate'],
    [
      'hostssl without TLS',
      refusedFacts('28000', noRule, { tls: { offered: 'yes', plaintext: 'refused' } }),
      'tls-required',
    ],
    ['no host rule', refusedFacts('28000', noRule), 'auth-hba'],
    ['a role without LOGIN', refusedFacts('28000', 'role "u" is not permitted to log in'), 'auth-hba'],
    ['Kerberos', refusedFacts('AUTHENTICATION'), 'auth-hba'],
    ['a wrong password', refusedFacts('28P01'), 'auth-password'],
    ['no password', refusedFacts('NO_PASSWORD'), 'auth-password'],
    ['no such database', refusedFacts('3D000'), 'db-exists'],
    ['a database without CONNECT', refusedFacts('42501'), 'db-exists'],
    ['a database that takes nobody', refusedFacts('55000'), 'db-exists'],
    ['another protocol', refusedFacts('PROTOCOL'), 'not-postgres'],
    [
      'a pooler',
      { ...healthyFacts, connection: { kind: 'refused', code: '08P01', message: 'x', pooler: 'PgBouncer 1.18.0' } },
      'pooler-detected',
    ],
  ])('for %s is reported by exactly one check: %s', (_why, setup, id) => {
    expect(idsThatFail(gates, setup)).toEqual([id]);
  });

  test('skips the later steps, with the reason, and passes the earlier ones', () => {
    const setup = refusedFacts('28P01', 'failed for "u"');
    expect(outcomeOf(authHbaCheck, setup).status).toBe('pass');
    expect(outcomeOf(dbExistsCheck, setup)).toMatchObject({
      status: 'skip',
      observed: expect.stringMatching(/^auth-password .*failed for "u"$/),
    });
  });

  test('blocks both methods and contains the error of the server', () => {
    expect(outcomeOf(authHbaCheck, refusedFacts('28000', noRule))).toMatchObject({
      blocks: ['continuous', 'dump'],
      observed: noRule,
    });
  });
});

test('none of them fails after a successful login', () => {
  expect(gates.map((check) => outcomeOf(check, healthyFacts).status)).toEqual(gates.map(() => 'pass'));
});
