import type { Outcome } from '../../../src/preflight/finding.ts';
import type { AnyCheck, ServerCheck } from '../../../src/preflight/postgresql/check.ts';
import type { Entry, Ground } from '../../../src/preflight/postgresql/ground.ts';
import type { Wish } from '../../../src/preflight/wish.ts';
import { healthyAddress, healthyWish } from '../network/sample.ts';

type Entered = Extract<Entry, { kind: 'entered' }>;

export const entered: Entered = {
  kind: 'entered',
  version: 150018,
  versionText: 'PostgreSQL 15.18 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
  inRecovery: false,
  superuser: true,
  pooler: undefined,
  ssl: true,
  passwordAsked: true,
  serverPort: 5432,
};

/** A server that let a superuser in, over TLS. */
export const healthyGround: Ground = {
  dbname: 'd1',
  username: 'u',
  address: healthyAddress,
  tls: {
    offered: 'yes',
    version: 'TLSv1.3',
    certificate: { subject: 'CN=db', issuer: 'CN=ca', validTo: Date.UTC(2031, 0, 1), selfSigned: false },
  },
  entry: entered,
  databases: ['d1'],
  reach: new Map([['d1', { kind: 'entered', direct: true }]]),
  copy: undefined,
  walRate: undefined,
  replication: { kind: 'entered' },
};

export function refusedWith(code: string, message = 'the words of the server', more: Partial<Ground> = {}): Ground {
  return { ...healthyGround, entry: { kind: 'refused', code, message }, replication: undefined, ...more };
}

/** Of a check that asks nothing. */
export function outcomeOf(check: ServerCheck, ground: Ground, wish: Partial<Wish> = {}): Outcome {
  return check.judge({}, ground, { ...healthyWish, ...wish });
}

export function idsThatFail(
  checks: readonly ServerCheck[],
  ground: Ground,
  wish: Partial<Wish> = {},
): readonly string[] {
  return checks.filter((check) => outcomeOf(check, ground, wish).status === 'fail').map(({ id }: AnyCheck) => id);
}
