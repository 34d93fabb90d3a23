import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import type { CheckOutcome } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import { notPostgresCheck } from '../../../../src/db/preflight/postgresql/checks/not-postgres.ts';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import { managedMarkersQuery } from '../../../../src/db/preflight/postgresql/queries/cluster.ts';
import { openPostgresqlSource } from '../../../../src/db/preflight/postgresql/source.ts';
import type { PostgresqlFacts } from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { connectPostgresql, startupParameters } from '../../../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../../src/postgresql/endpoint.ts';
import { probeSql, readOnlySql } from '../../../../src/postgresql/search-path-safe-sql.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { startPgbouncer } from '../../../fixtures/pgbouncer.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { anyMessage } from '../../../postgresql/any-message.ts';
import { sourceOf } from '../../../postgresql/source-of.ts';
import * as wire from '../../../postgresql/wire.ts';
import { healthyWish } from '../network/sample.ts';

const connectionCheckIds = new Set([
  'host-parse',
  'host-public-address',
  'host-split-horizon',
  'host-ipv6-only',
  'tcp-connect',
  'port-default',
  'self-target',
  'tls-negotiate',
  'tls-required',
  'tls-cert',
  'auth-password',
  'auth-hba',
  'db-exists',
  'pooler-detected',
  'repl-connection',
  'version-min',
  'version-not-newer',
  'not-postgres',
  'managed-source',
]);

const connectionChecks = postgresqlChecks.filter(({ id }) => connectionCheckIds.has(id));

interface Seen {
  readonly setup: PostgresqlFacts;
  readonly sent: readonly string[];
  readonly outcomes: ReadonlyMap<string, CheckOutcome>;
  /** `id: status` of everything that is neither silent nor skipped. */
  readonly said: readonly string[];
}

/** The way in as a run takes it, judged. */
async function look(source: PostgresqlEndpoint, more: Partial<PreflightOptions> = {}): Promise<Seen> {
  const sent: string[] = [];
  const signal = AbortSignal.timeout(15_000);
  const found = await openPostgresqlSource(source, {
    signal,
    timeouts: { address: 1000, connect: 1000 },
    onSend: (_database, text) => sent.push(text),
  });
  const { facts: setup, session } = found;
  const preflightOptions: PreflightOptions = {
    ...healthyWish,
    isOverInternet: false,
    now: Date.now(),
    disableSsl: source.ssl === 'disable',
    ...more,
  };
  try {
    const values =
      session === undefined
        ? {}
        : {
            marks: managedMarkersQuery.decode(
              (
                await session.query(
                  readOnlySql([managedMarkersQuery.sql(150000, { inRecovery: false, superuser: true }) ?? '']),
                )
              ).flat(),
            ),
          };
    const outcomes = new Map<string, CheckOutcome>();
    for (const check of connectionChecks) {
      if (check.scope !== 'server') continue;
      if (check.needs !== 'address' && setup.connection.kind !== 'entered') continue;
      outcomes.set(check.id, check.evaluate(values, setup, preflightOptions));
    }
    const said = [...outcomes]
      .filter(([, { status }]) => status !== 'pass' && status !== 'skip')
      .map(([id, { status }]) => `${id}: ${status}`);
    return { setup, sent, outcomes, said };
  } finally {
    await session?.end();
  }
}

describe.each([14, 18] as const)('PostgreSQL %d', (version) => {
  let server: Postgres;
  let source: PostgresqlEndpoint;
  const as = (username: string, more: Partial<PostgresqlEndpoint> = {}): PostgresqlEndpoint => ({
    ...source,
    username,
    password: new Secret('p'),
    ...more,
  });

  beforeAll(async () => {
    server = await startPostgres({ version, tls: 20, settings: ready });
    source = sourceOf(server);
    await server.query("CREATE ROLE plain LOGIN REPLICATION PASSWORD 'p'");
    await server.rules('host all all 127.0.0.1/32 scram-sha-256');
  }, 60_000);
  afterAll(() => server?.stop());
  afterEach(() => server.rules('host all all 127.0.0.1/32 scram-sha-256'));

  test('every check passes on a healthy server', async () => {
    expect((await look(source)).said).toEqual([]);
    expect((await look(as('plain'))).said).toEqual([]);
    expect((await look(as('plain', { ssl: 'disable' }))).said).toEqual([]);
    expect((await look(as('plain', { verify: { what: 'full', ca: server.ca } }))).said).toEqual([]);
  });

  test('the connection has the facts of the server', async () => {
    const { setup } = await look(source);
    expect(setup.connection).toMatchObject({
      kind: 'entered',
      superuser: true,
      inRecovery: false,
      pooler: undefined,
      ssl: true,
      serverPort: server.ownPort,
    });
    expect(setup.connection.kind === 'entered' && Math.floor(setup.connection.version / 10_000)).toBe(Number(version));
    expect(setup).toMatchObject({ replication: { kind: 'entered' }, tls: { offered: 'yes', version: 'TLSv1.3' } });
  });

  test('what is sent are three pinned read-only messages and IDENTIFY_SYSTEM', async () => {
    const { sent } = await look(source);
    expect(sent).toHaveLength(4);
    expect(sent).toContain('IDENTIFY_SYSTEM');
    const transactions = sent.filter((text) => text !== 'IDENTIFY_SYSTEM');
    expect(transactions[0]).toMatch(/; SELECT pg_backend_pid\(\) AS pid; COMMIT$/);
    for (const text of transactions)
      expect(text).toMatch(
        /^BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE; SET LOCAL role TO none; SET LOCAL search_path TO pg_catalog, pg_temp; .*; COMMIT$/s,
      );
  });

  test('a loopback address is a blocker for a service on the internet', async () => {
    expect((await look(source, { isOverInternet: true })).said).toEqual(['host-public-address: fail']);
  });

  test('contradictions of the host are reported, and the other checks still run', async () => {
    const contradictions = ['--host says port 1, and --port says 2'];
    expect((await look({ ...source, contradictions })).said).toEqual(['host-parse: fail']);
  });

  test('a port where nothing listens', async () => {
    const { said, outcomes } = await look({ ...source, port: 1 });
    expect(said).toEqual(['tcp-connect: fail']);
    expect(outcomes.get('auth-password')?.status).toBe('skip');
  });

  test('a server without TLS', async () => {
    await server.query("ALTER SYSTEM SET ssl = 'off'");
    await server.rules('host all all 127.0.0.1/32 scram-sha-256');
    try {
      const { said, setup, outcomes } = await look(source);
      expect(said).toEqual(['tls-negotiate: fail']);
      expect(setup.tls).toEqual({ offered: 'no', plaintext: 'accepted' });
      expect(outcomes.get('tls-negotiate')?.observed).toContain('SSL');
      expect((await look({ ...source, ssl: 'disable' })).said).toEqual([]);
    } finally {
      await server.query("ALTER SYSTEM SET ssl = 'on'");
      await server.query('SELECT pg_reload_conf()');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  });

  test('an untrusted certificate with verification', async () => {
    expect((await look(as('plain', { verify: { what: 'full' } }))).said).toEqual(['tls-negotiate: fail']);
  });

  test('a certificate that ends while the migration may still run', async () => {
    const { said } = await look(source, { now: Date.now() + 7 * 86_400_000 });
    expect(said).toEqual(['tls-cert: warn']);
  });

  test('pg_hba.conf requires TLS, and the connection has none', async () => {
    await server.rules('hostssl all all 127.0.0.1/32 scram-sha-256');
    const { said, outcomes } = await look(as('plain', { ssl: 'disable' }));
    expect(said).toEqual(['tls-required: fail']);
    expect(outcomes.get('tls-required')?.observed).toContain('pg_hba.conf');
    expect((await look(as('plain'))).said).toEqual([]);
  });

  test.each(['host all other 127.0.0.1/32 scram-sha-256', 'host all plain 127.0.0.1/32 reject'])(
    'the rule %s',
    async (rule) => {
      await server.rules(rule);
      expect((await look(as('plain'))).said).toEqual(['auth-hba: fail']);
      expect((await look(as('plain', { ssl: 'disable' }))).said).toEqual(['auth-hba: fail']);
    },
  );

  test('a wrong password, an unknown role, no password', async () => {
    for (const source of [
      as('plain', { password: new Secret('wrong') }),
      as('nobody'),
      as('plain', { password: undefined }),
    ]) {
      expect((await look(source)).said).toEqual(['auth-password: fail']);
    }
  });

  test.each([
    ['an expired role', 'expired', "VALID UNTIL '2001-01-01'", '', 'auth-password', {}],
    ['a role without LOGIN', 'nologin', 'NOLOGIN', '', 'auth-hba', {}],
    ['a role without REPLICATION', 'norepl', 'NOREPLICATION', '', 'repl-connection', {}],
    [
      'a database without CONNECT',
      'noconnect',
      '',
      'REVOKE CONNECT ON DATABASE "My-DB" FROM public',
      'db-exists',
      { dbname: 'My-DB' },
    ],
    [
      'a database that takes nobody',
      'shut',
      '',
      'ALTER DATABASE "My-DB" ALLOW_CONNECTIONS false',
      'db-exists',
      { dbname: 'My-DB' },
    ],
  ])('%s, and its fix', async (_what, username, role, breaking, id, more) => {
    await server.query('CREATE DATABASE "My-DB"');
    try {
      await server.query(
        `CREATE ROLE ${username} LOGIN REPLICATION PASSWORD 'p'; ${role === '' ? '' : `ALTER ROLE ${username} ${role};`} ${breaking}`,
      );
      const { said, outcomes } = await look(as(username, more));
      expect(said).toEqual([`${id}: fail`]);
      for (const statement of outcomes.get(id)?.fix?.sql ?? []) await server.query(statement);
      expect((await look(as(username, more))).said).toEqual([]);
      for (const statement of outcomes.get(id)?.fix?.undo ?? []) await server.query(statement);
      if (outcomes.get(id)?.fix?.undo !== undefined)
        expect((await look(as(username, more))).said).toEqual([`${id}: fail`]);
    } finally {
      await server.query('DROP DATABASE "My-DB"');
      await server.query(`DROP OWNED BY ${username}; DROP ROLE ${username}`);
    }
  });

  test('a database that is not there', async () => {
    expect((await look(as('plain', { dbname: 'My-DB' }))).said).toEqual(['db-exists: fail']);
  });

  test('no connection left for the role', async () => {
    await server.query("CREATE ROLE full_up LOGIN REPLICATION PASSWORD 'p' CONNECTION LIMIT 0");
    const { said, outcomes } = await look(as('full_up'));
    await server.query('DROP ROLE full_up');
    expect(said).toEqual(['tcp-connect: fail']);
    expect(outcomes.get('tcp-connect')?.observed).toContain('too many');
  });

  test('a target that is older or unknown', async () => {
    expect((await look(source, { targetVersion: '13' })).said).toEqual(['version-not-newer: fail']);
    expect((await look(source, { targetVersion: String(version) })).said).toEqual([]);
    expect((await look(source, { targetVersion: undefined })).said).toEqual(['version-not-newer: unknown']);
  });

  test('the target is the source', async () => {
    expect((await look(source, { target: { host: '127.0.0.1', port: server.port } })).said).toEqual([
      'self-target: fail',
    ]);
  });

  test('roles of managed services', async () => {
    await server.query('CREATE ROLE doadmin');
    expect((await look(as('plain'))).said).toEqual(['managed-source: fail']);
    expect((await look(source)).said).toEqual(['managed-source: warn']);
    await server.query('DROP ROLE doadmin; CREATE ROLE rdsadmin');
    expect((await look(as('plain'))).said).toEqual(['managed-source: warn']);
    expect((await look(source)).said).toEqual([]);
    await server.query('DROP ROLE rdsadmin');
  });

  describe.skipIf(lacks('pgbouncer'))('behind pgbouncer', () => {
    const behind = async (
      mode: 'session' | 'transaction',
      ignored: readonly string[] = [],
    ): Promise<PostgresqlEndpoint> => {
      const { port } = await startPgbouncer({ server, mode, size: 2, ignored });
      return { ...source, port, ssl: 'disable' };
    };

    test.each(['session', 'transaction'] as const)('in %s mode it is detected', async (mode) => {
      const { said, outcomes } = await look(await behind(mode));
      expect(said).toEqual(['pooler-detected: fail', 'repl-connection: fail']);
      expect(outcomes.get('pooler-detected')?.fix?.text).toContain(`listens on ${server.ownPort}`);
      expect(outcomes.get('repl-connection')?.observed).toContain('startup parameter');
    });

    test.each([
      { what: 'rejects', ignored: [] },
      { what: 'ignores', ignored: Object.keys(startupParameters) },
    ])('the report says that it $what the settings of the login', async ({ ignored }) => {
      await server.query('ALTER DATABASE postgres SET search_path = public');
      try {
        const { setup, outcomes } = await look(await behind('transaction', ignored));
        expect(setup.connection).toMatchObject({ kind: 'entered', startupRefusal: expect.stringMatching(/./) });
        expectGolden('postgresql-pooler', outcomes.get('pooler-detected')?.detail ?? '');
      } finally {
        await server.query('ALTER DATABASE postgres RESET search_path');
      }
    });

    test('its admin console, a wrong password and an unknown database are recognized as those of a pooler', async () => {
      const pooled = await behind('transaction');
      for (const more of [{ dbname: 'pgbouncer' }, { password: new Secret('wrong') }, { dbname: 'nowhere' }]) {
        expect((await look({ ...pooled, ...more })).said).toEqual(['pooler-detected: fail']);
      }
    });

    test('settings of another client in transaction mode do not change', async () => {
      const pooled = await behind('transaction');
      const options = { dbname: 'postgres', limit: 5000, applicationName: 'another client' };
      const other = await connectPostgresql(pooled, options);
      const settings = async () =>
        (
          await other.query(anyMessage("SELECT name, setting FROM pg_settings WHERE context IN ('user', 'superuser')"))
        )[0];
      try {
        const before = await settings();
        await Promise.all([look(pooled), look(pooled), look(pooled)]);
        expect(await settings()).toEqual(before);
        await other.query(anyMessage('CREATE TABLE not_read_only (); DROP TABLE not_read_only'));
      } finally {
        await other.end();
      }
    });
  });
});

describe('something else', () => {
  const servers: wire.FakeServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
  const at = async (answer: Parameters<typeof wire.serveMessages>[0]): Promise<PostgresqlEndpoint> => {
    const server = await wire.serveMessages(answer);
    servers.push(server);
    return server.source;
  };

  test.each(['require', 'disable'] as const)('that speaks another protocol, with ssl %s', async (ssl) => {
    const source = await at((_text, socket) => {
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      return undefined;
    });
    expect((await look({ ...source, ssl })).said).toEqual(['not-postgres: fail']);
  });

  test.each(['require', 'disable'] as const)('that never answers ends in bounded time, with ssl %s', async (ssl) => {
    const began = Date.now();
    expect((await look({ ...(await at(() => undefined)), ssl })).said).toEqual(['tcp-connect: fail']);
    expect(Date.now() - began).toBeLessThan(5000);
  });

  test('that has no TLS is never sent the password without', async () => {
    const sent: string[] = [];
    const source = await at((text) => {
      sent.push(text.toString());
      if (text.length === 8) return Buffer.from('N');
      return wire.isStartup(text) ? wire.message('R', wire.int32(3)) : wire.hello;
    });
    const { setup, said } = await look({ ...source, ssl: 'require' });
    expect(said).toEqual(['tls-negotiate: fail']);
    expect(setup.tls).toEqual({ offered: 'no', plaintext: 'accepted' });
    expect(sent).toHaveLength(2);
    expect(sent.join()).not.toContain('s3cret');
  });

  test('that accepts the login and closes the connection at the first statement', async () => {
    const source = await at((text, socket) => {
      if (wire.isStartup(text)) return wire.hello;
      socket.destroy();
      return undefined;
    });
    expect((await look(source)).said).toEqual(['tcp-connect: fail']);
  });

  test('that is the admin console of a pooler is named', async () => {
    const refused = Buffer.concat([
      wire.failure({ S: 'ERROR', C: '08P01', M: "invalid command 'SELECT'" }),
      wire.ready,
    ]);
    const version = Buffer.concat([wire.row('version', 'PgBouncer 1.23.1'), wire.ready]);
    const source = await at((text) => {
      if (wire.isStartup(text)) return wire.hello;
      return wire.queryIn(text) === 'SHOW VERSION' ? version : refused;
    });
    const { said, outcomes } = await look(source);
    expect(said).toEqual(['pooler-detected: fail']);
    expect(outcomes.get('pooler-detected')?.observed).toBe("PgBouncer 1.23.1: invalid command 'SELECT'");
  });

  test('that is another product is connected to and named', async () => {
    const pinned = (query: string) => (query === 'ROLLBACK' ? query : probeSql(query));
    const answers: Readonly<Record<string, Buffer>> = {
      ROLLBACK: wire.message('C', Buffer.from('ROLLBACK\0')),
      'SELECT pg_backend_pid() AS pid': wire.row('pid', '4711'),
      "SELECT current_setting('server_version_num') AS v, version() AS ver": wire.row('v', '130000'),
    };
    const source = await at((text) => {
      if (wire.isStartup(text)) return wire.hello;
      const known = Object.entries(answers).find(([sent]) => wire.queryIn(text) === pinned(sent))?.[1];
      return Buffer.concat([
        known ?? wire.failure({ S: 'ERROR', C: '42704', M: 'unrecognized parameter' }),
        wire.ready,
      ]);
    });
    const { facts: setup, session } = await openPostgresqlSource(source, { signal: AbortSignal.timeout(5000) });
    await session?.end();
    expect(setup.connection).toMatchObject({ kind: 'entered', version: 130000, versionText: '' });
    expect(notPostgresCheck.evaluate({}, setup, healthyWish)).toMatchObject({
      status: 'fail',
      blocks: ['continuous'],
    });
  });
});
