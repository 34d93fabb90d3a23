import type { CheckOutcome } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import type { PostgresqlCheck, PostgresqlServerCheck } from '../../../../src/db/preflight/postgresql/check.ts';
import type {
  PostgresqlConnectionResult,
  PostgresqlFacts,
} from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { healthyAddress, healthyWish } from '../network/sample.ts';

type Entered = Extract<PostgresqlConnectionResult, { kind: 'entered' }>;

export const entered: Entered = {
  kind: 'entered',
  version: 150018,
  versionText: 'PostgreSQL 15.18 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
  inRecovery: false,
  superuser: true,
  pooler: undefined,
  startupRefusal: undefined,
  ssl: true,
  authentication: 'scram-sha-256',
  serverPort: 5432,
};

/** A server that let a superuser in, over TLS. */
export const healthyFacts: PostgresqlFacts = {
  dbname: 'd1',
  username: 'u',
  address: healthyAddress,
  tls: {
    offered: 'yes',
    version: 'TLSv1.3',
    certificate: { subject: 'CN=db', issuer: 'CN=ca', validTo: Date.UTC(2031, 0, 1), selfSigned: false },
  },
  connection: entered,
  databases: ['d1'],
  access: new Map([['d1', { kind: 'entered' }]]),
  copy: undefined,
  walRate: undefined,
  replication: { kind: 'entered' },
};

export function refusedFacts(
  code: string,
  message = 'the words of the server',
  more: Partial<PostgresqlFacts> = {},
): PostgresqlFacts {
  return { ...healthyFacts, connection: { kind: 'refused', code, message }, replication: undefined, ...more };
}

/** Of a check that asks nothing. */
export function outcomeOf(
  check: PostgresqlServerCheck,
  setup: PostgresqlFacts,
  options: Partial<PreflightOptions> = {},
): CheckOutcome {
  return check.evaluate({}, setup, { ...healthyWish, ...options });
}

export function idsThatFail(
  checks: readonly PostgresqlServerCheck[],
  setup: PostgresqlFacts,
  options: Partial<PreflightOptions> = {},
): readonly string[] {
  return checks
    .filter((check) => outcomeOf(check, setup, options).status === 'fail')
    .map(({ id }: PostgresqlCheck) => id);
}
