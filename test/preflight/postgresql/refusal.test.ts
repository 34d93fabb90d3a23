import { describe, expect, test } from 'vitest';
import { tcpConnect } from '../../../src/preflight/postgresql/address.ts';
import { authHba, authPassword, dbExists } from '../../../src/preflight/postgresql/auth.ts';
import type { Ground } from '../../../src/preflight/postgresql/ground.ts';
import { poolerDetected } from '../../../src/preflight/postgresql/pooler.ts';
import { tlsNegotiate, tlsRequired } from '../../../src/preflight/postgresql/tls.ts';
import { notPostgres } from '../../../src/preflight/postgresql/version.ts';
import { healthyAddress } from '../network/sample.ts';
import { healthyGround, idsThatFail, outcomeOf, refusedWith } from './way-in.ts';

const gates = [tcpConnect, tlsNegotiate, tlsRequired, authPassword, authHba, dbExists, notPostgres, poolerDetected];
const noRule = 'no pg_hba.conf entry for host "1.2.3.4", user "u", database "d1", no encryption';

test.each([
  ['57P05', 'idle_session_timeout'],
  ['57014', 'statement_timeout'],
  ['58P01', 'session_preload_libraries'],
])('a login that ends with %s is told the setting %s', (code, setting) => {
  expect(outcomeOf(tcpConnect, refusedWith(code)).fix?.text).toContain(setting);
});

test('a connection that ends while the server is asked promises nothing', () => {
  const outcome = outcomeOf(tcpConnect, { ...healthyGround, lost: 'the connection was closed by the other side' });
  expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
});

describe('a refusal', () => {
  test.each<[string, Ground, string]>([
    [
      'connection refused',
      refused({ ...healthyAddress, connects: [{ address: '8.8.4.4', took: 1, error: 'ECONNREFUSED' }] }),
      'tcp-connect',
    ],
    ['a session that is not answered', refusedWith('ETIMEDOUT'), 'tcp-connect'],
    ['a session that is closed', refusedWith('ECONNRESET'), 'tcp-connect'],
    ['a server that starts', refusedWith('57P03'), 'tcp-connect'],
    ['no connection left', refusedWith('53300'), 'tcp-connect'],
    ['anything nobody knows', refusedWith('XX000'), 'tcp-connect'],
    ['no TLS', refusedWith('NO_TLS'), 'tls-negotiate'],
    ['a broken handshake', refusedWith('TLS'), 'tls-negotiate'],
    [
      'hostssl without TLS',
      refusedWith('28000', noRule, { tls: { offered: 'yes', plaintext: 'refused' } }),
      'tls-required',
    ],
    ['no host rule', refusedWith('28000', noRule), 'auth-hba'],
    ['a role without LOGIN', refusedWith('28000', 'role "u" is not permitted to log in'), 'auth-hba'],
    ['Kerberos', refusedWith('AUTHENTICATION'), 'auth-hba'],
    ['a wrong password', refusedWith('28P01'), 'auth-password'],
    ['no password', refusedWith('NO_PASSWORD'), 'auth-password'],
    ['no such database', refusedWith('3D000'), 'db-exists'],
    ['a database without CONNECT', refusedWith('42501'), 'db-exists'],
    ['a database that takes nobody', refusedWith('55000'), 'db-exists'],
    ['another protocol', refusedWith('PROTOCOL'), 'not-postgres'],
    [
      'a pooler',
      { ...healthyGround, entry: { kind: 'refused', code: '08P01', message: 'x', pooler: 'PgBouncer 1.18.0' } },
      'pooler-detected',
    ],
  ])('for %s is told by exactly one check: %s', (_why, ground, id) => {
    expect(idsThatFail(gates, ground)).toEqual([id]);
  });

  test('skips what comes after it, with the reason, and passes what came before', () => {
    const ground = refusedWith('28P01', 'password authentication failed for user "u"');
    expect(outcomeOf(authHba, ground).status).toBe('pass');
    expect(outcomeOf(dbExists, ground)).toMatchObject({
      status: 'skip',
      observed: 'auth-password comes first: password authentication failed for user "u"',
    });
  });

  test('blocks both methods and shows the words of the server', () => {
    expect(outcomeOf(authHba, refusedWith('28000', noRule))).toMatchObject({
      blocks: ['continuous', 'dump'],
      observed: noRule,
    });
  });
});

test('none of them fails on a server that lets in', () => {
  expect(gates.map((check) => outcomeOf(check, healthyGround).status)).toEqual(gates.map(() => 'pass'));
});

function refused(address: Ground['address']): Ground {
  return {
    ...healthyGround,
    address,
    entry: { kind: 'unreachable', code: 'ECONNREFUSED', message: 'connection refused' },
  };
}
