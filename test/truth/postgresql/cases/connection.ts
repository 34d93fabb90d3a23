import { networkInterfaces } from 'node:os';
import { Secret } from '../../../../src/base/secret.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { startPgbouncer } from '../../../fixtures/pgbouncer.ts';
import type { PostgresCase } from '../case.ts';

const wrong = { password: new Secret('wrong') };
const someone = (rest: string) => `CREATE ROLE someone LOGIN SUPERUSER PASSWORD 'secret' ${rest}`;
const open = 'host all all 0.0.0.0/0 scram-sha-256';

/** An address of this machine that is not loopback: a service that is far away comes to it. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

/** What stands between the service and the databases: password, host rules, TLS, addresses, poolers. */
export const connectionCases: readonly PostgresCase[] = [
  { name: 'a wrong password', verdict: 'blocked', reasons: ['auth-password'], quick: true, connection: wrong },
  { name: 'an unknown role', verdict: 'blocked', reasons: ['auth-password'], connection: { username: 'nobody' } },
  {
    name: 'an expired password',
    verdict: 'blocked',
    reasons: ['auth-password'],
    first: [someone("VALID UNTIL '2001-01-01'")],
    connection: { username: 'someone' },
  },
  {
    name: 'a password for three days',
    verdict: 'continuous',
    first: [
      someone(''),
      "DO $$ BEGIN EXECUTE format('ALTER ROLE someone VALID UNTIL %L', now() + interval '3 days'); END $$",
    ],
    connection: { username: 'someone' },
  },
  {
    name: 'a role that may not log in',
    verdict: 'blocked',
    reasons: ['auth-hba'],
    first: ["CREATE ROLE someone SUPERUSER PASSWORD 'secret'"],
    connection: { username: 'someone' },
  },
  {
    name: 'a name and a password that need quotes everywhere',
    verdict: 'continuous',
    quick: true,
    first: [`CREATE ROLE "some 'one" LOGIN SUPERUSER PASSWORD E'p''a\\\\ "ss=wörd'`],
    connection: { username: "some 'one", password: new Secret(`p'a\\ "ss=wörd`) },
  },
  {
    name: 'a password kept as md5',
    verdict: 'continuous',
    settings: { password_encryption: 'md5' },
    hba: ['host all all 0.0.0.0/0 md5'],
    first: [someone('')],
    connection: { username: 'someone' },
  },
  {
    name: 'a host rule that rejects the role',
    verdict: 'blocked',
    reasons: ['auth-hba'],
    quick: true,
    first: [someone(''), `rules host all someone 0.0.0.0/0 reject; ${open}`],
    connection: { username: 'someone' },
  },
  {
    name: 'a host rule that rejects one database',
    verdict: 'blocked',
    reasons: ['hba-rule'],
    databases: ['d1', 'd2'],
    first: [`rules host d2 all 0.0.0.0/0 reject; ${open}`],
  },
  {
    name: 'host rules with regular expressions of PostgreSQL that match the role and the databases',
    verdict: 'continuous',
    from: 16,
    hba: [String.raw`host "/^(d\d|postgres)$" "/^\mpost" 0.0.0.0/0 scram-sha-256`],
  },
  {
    name: 'a host rule that rejects databases by a regular expression',
    verdict: 'blocked',
    reasons: ['hba-rule'],
    from: 16,
    databases: ['d1', 'x1'],
    first: [`rules host /^x[[:digit:]]$ all 0.0.0.0/0 reject; ${open}`],
  },
  {
    name: 'a host rule by the name of the host',
    verdict: 'continuous',
    hba: ['host all all localhost scram-sha-256'],
  },
  {
    name: 'host rules without the word replication',
    verdict: 'continuous',
    first: ['rules host d1 postgres 127.0.0.1/32 scram-sha-256'],
  },
  {
    name: 'TLS is asked for and there is none',
    verdict: 'blocked',
    reasons: ['tls-negotiate'],
    connection: { ssl: 'require' },
  },
  { name: 'TLS', verdict: 'continuous', tls: true, connection: { ssl: 'require' } },
  {
    name: 'TLS alone is let in, and none is asked for',
    verdict: 'blocked',
    reasons: ['tls-required'],
    tls: true,
    first: ['rules hostssl all all 0.0.0.0/0 scram-sha-256'],
  },
  {
    name: 'TLS alone is let in, and asked for',
    verdict: 'continuous',
    tls: true,
    first: ['rules hostssl all all 0.0.0.0/0 scram-sha-256'],
    connection: { ssl: 'require' },
  },
  ...fromFar(outside).map((one) => ({ ...one, possible: outside !== undefined })),
  ...poolers().map((one) => ({ ...one, possible: !lacks('pgbouncer') })),
];

function fromFar(address = ''): readonly PostgresCase[] {
  // The address of the source is as private as this machine; what is to be judged is what the server says of it.
  const far = { isOverInternet: true, accept: ['host-public-address'] };
  return [
    {
      name: 'listen_addresses localhost, judged from near for a service far away',
      verdict: 'blocked',
      reasons: ['listen-addresses'],
      settings: { listen_addresses: 'localhost' },
      options: far,
      migrationHost: address,
    },
    {
      name: 'listen_addresses localhost, seen from far away',
      verdict: 'blocked',
      reasons: ['tcp-connect'],
      settings: { listen_addresses: 'localhost' },
      connection: { host: address },
    },
    {
      name: 'host rules for this machine alone, judged from near for a service far away',
      verdict: 'blocked',
      reasons: ['hba-rule'],
      hba: ['host all all 127.0.0.1/32 scram-sha-256'],
      options: far,
      migrationHost: address,
    },
    {
      name: 'host rules for this machine alone, seen from far away',
      verdict: 'blocked',
      reasons: ['auth-hba'],
      hba: ['host all all 127.0.0.1/32 scram-sha-256'],
      connection: { host: address },
    },
    {
      name: 'open to all, judged from near for a service far away',
      verdict: 'continuous',
      settings: { listen_addresses: '*' },
      options: far,
      migrationHost: address,
    },
  ];
}

/** The engine refuses a pooler, whatever its mode: settings of a session would reach its next client. */
function poolers(): readonly PostgresCase[] {
  return (['transaction', 'session'] as const).map(
    (mode): PostgresCase => ({
      name: `pgbouncer in ${mode} mode`,
      verdict: 'blocked',
      reasons: ['pooler-detected'],
      before: async (source) => {
        const pooler = await startPgbouncer({ server: source, mode, size: 8 });
        return { connection: { port: pooler.port }, end: () => pooler.stop() };
      },
    }),
  );
}
