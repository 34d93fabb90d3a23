import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { ConnectError } from '../../src/platform/network-errors.ts';
import { connectPostgresql, startupParameters } from '../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../src/postgresql/quote.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { anyMessage } from './any-message.ts';
import { sourceOf } from './source-of.ts';

describe.each([14, 18] as const)('PostgreSQL %d', (version) => {
  let server: Postgres;
  let source: PostgresqlEndpoint;
  beforeAll(async () => {
    // The messages of these tests are not those of the program.
    server = await startPostgres({ version, direct: true, tls: 20, settings: { wal_level: 'logical' } });
    source = sourceOf(server);
    await server.rules(
      'host all clear 127.0.0.1/32 password',
      'host all md 127.0.0.1/32 md5',
      'host all all 127.0.0.1/32 scram-sha-256',
    );
  }, 60_000);
  afterAll(() => server?.stop());

  const options = { dbname: 'postgres', limit: 5000 };
  const enter = async (into: PostgresqlEndpoint, dbname = 'postgres') => {
    const session = await connectPostgresql(into, { ...options, dbname });
    await session.end();
  };

  test('reports its process and its TLS, and returns every result of a message in order, as text', async () => {
    const session = await connectPostgresql(source, options);
    try {
      const sets = await session.query(
        anyMessage(
          "BEGIN READ ONLY; SELECT 1::int AS n, true AS t, NULL AS x, '{a,b}'::text[] AS l; SELECT pg_backend_pid() AS pid WHERE false; SELECT pg_backend_pid() AS pid; COMMIT",
        ),
      );
      expect(sets).toEqual([
        [],
        [{ n: '1', t: 't', x: null, l: '{a,b}' }],
        [],
        [{ pid: String(session.processId) }],
        [],
      ]);
      expect(session.tls).toMatchObject({
        version: 'TLSv1.3',
        certificate: { subject: 'CN=source', issuer: 'CN=test CA', selfSigned: false },
      });
      const left = (session.tls?.certificate?.validTo ?? 0) - Date.now();
      expect(left / 86_400_000).toBeGreaterThan(19);
    } finally {
      await session.end();
    }
  });

  test('a session can be used after a failed statement', async () => {
    const session = await connectPostgresql(source, options);
    await expect(session.query(anyMessage('SELECT 1; SELECT 1/0; SELECT 2'))).rejects.toMatchObject({
      code: '22012',
      message: 'division by zero',
      lost: false,
    });
    expect(await session.query(anyMessage('SELECT 2 AS two'))).toEqual([[{ two: '2' }]]);
    await session.end();
  });

  test('a session that is terminated during a query is lost, with the message of the server', async () => {
    const session = await connectPostgresql(source, options);
    const asked = session.query(anyMessage('SELECT pg_sleep(30)'));
    const outcome = expect(asked).rejects.toMatchObject({ code: '57P01', lost: true });
    await server.query(`SELECT pg_terminate_backend(${session.processId})`);
    await outcome;
    await session.end();
  });

  test('no setting of the environment reaches the session', async () => {
    process.env.PGOPTIONS = '-c work_mem=65kB';
    try {
      const session = await connectPostgresql(source, options);
      const [rows] = await session.query(
        anyMessage("SELECT name, setting FROM pg_settings WHERE source = 'client' ORDER BY name"),
      );
      await session.end();
      expect(rows).toEqual([
        { name: 'application_name', setting: 'cloudctl-preflight' },
        { name: 'client_encoding', setting: 'UTF8' },
        // pg_settings does not list the role.
        ...Object.entries(startupParameters)
          .filter(([name]) => name !== 'role')
          .map(([name, setting]) => ({ name, setting })),
      ]);
    } finally {
      delete process.env.PGOPTIONS;
    }
  });

  test('chain and host name are verified with a CA file, and neither without one', async () => {
    const { ca } = server;
    if (ca === undefined) throw new Error('no CA');
    await enter({ ...source, verify: { what: 'full', ca } });
    await enter({ ...source, host: 'source.example', address: '127.0.0.1' });
    await enter({ ...source, host: 'source.example', address: '127.0.0.1', verify: { what: 'chain', ca } });
    const failing = (into: PostgresqlEndpoint) =>
      enter(into).then(
        () => undefined,
        (error: unknown) => (error instanceof ConnectError ? [error.phase, error.code, error.message] : error),
      );
    expect(
      await failing({ ...source, host: 'source.example', address: '127.0.0.1', verify: { what: 'full', ca } }),
    ).toEqual(['tls', 'TLS', expect.stringContaining('source.example')]);
    expect(await failing({ ...source, verify: { what: 'full' } })).toEqual([
      'tls',
      'TLS',
      expect.stringMatching(/certificate/),
    ]);
  });

  test.each(['My-DB', 'a b', 'quote"d', "o'clock", 'ünïcödé 数', 'select', '%s', '\\', 'x'.repeat(63), 'é'.repeat(31)])(
    'the database %s is entered',
    async (name) => {
      await server.query(`CREATE DATABASE ${quoteIdentifier(name)}`);
      const session = await connectPostgresql(source, { ...options, dbname: name });
      expect(await session.query(anyMessage('SELECT current_database() AS name'))).toEqual([[{ name }]]);
      await session.end();
      await server.query(`DROP DATABASE ${quoteIdentifier(name)}`);
    },
  );

  test.each(['md', 'clear', 'scram'])('every unusual password is accepted with the method %s', async (username) => {
    const passwords = [
      "'",
      '"',
      '\\',
      "\\'",
      ' lead and trail ',
      '@:/?#[]%',
      '%00',
      'p%40',
      '{}$`!',
      'päss wörd',
      '密码',
      '🔑',
      '\t',
      'x'.repeat(200),
      'ａｂｃ',
      '\u00a0',
    ];
    await server.query(`DROP ROLE IF EXISTS ${username}; CREATE ROLE ${username} LOGIN`);
    for (const password of passwords) {
      await server.query(
        `SET password_encryption = '${username === 'md' ? 'md5' : 'scram-sha-256'}'; ALTER ROLE ${username} PASSWORD ${quoteLiteral(password)}`,
      );
      await enter({ ...source, username, password: new Secret(password) });
    }
    const wrong = await enter({ ...source, username, password: new Secret('s3cret-one') }).catch(
      (error: unknown) => error,
    );
    expect(wrong).toMatchObject({ phase: 'startup', code: '28P01' });
    expect(String(wrong)).not.toContain('s3cret-one');
    expect(server.log()).not.toContain('s3cret-one');
  });

  test('every quoted text is read back unchanged', async () => {
    const session = await connectPostgresql(source, options);
    const texts = fc.string({ unit: 'binary' }).filter((text) => !/[\0\p{Surrogate}]/u.test(text));
    const back = async (sql: string) => (await session.query(anyMessage(`SELECT ${sql} AS back`)))[0]?.[0]?.back;
    const named = async (sql: string) =>
      Object.keys((await session.query(anyMessage(`SELECT 1 AS ${sql}`)))[0]?.[0] ?? {})[0];
    try {
      for (const setting of ['on', 'off']) {
        await session.query(
          anyMessage(`SET standard_conforming_strings = ${setting}; SET escape_string_warning = off`),
        );
        await fc.assert(
          fc.asyncProperty(texts, async (text) => {
            expect(await back(quoteLiteral(text))).toBe(text);
          }),
          { numRuns: 60 },
        );
      }
      const names = texts.filter((text) => text !== '' && Buffer.byteLength(text) < 64);
      await fc.assert(
        fc.asyncProperty(names, async (text) => {
          expect(await named(quoteIdentifier(text))).toBe(text);
        }),
        { numRuns: 60 },
      );
      for (const text of ["\\'; DROP TABLE x; --", '\\', "'", "''", "\\\\'", '$$', "E'\\"])
        expect(await back(quoteLiteral(text))).toBe(text);
    } finally {
      await session.end();
    }
  }, 60_000);

  test('a replication session accepts IDENTIFY_SYSTEM and has the reported process', async () => {
    const session = await connectPostgresql(source, { ...options, replication: true });
    const [rows] = await session.query(anyMessage('IDENTIFY_SYSTEM'));
    expect(rows?.[0]).toMatchObject({ dbname: 'postgres', timeline: '1' });
    expect(await session.query(anyMessage('SELECT pg_backend_pid() AS pid'))).toEqual([
      [{ pid: String(session.processId) }],
    ]);
    await session.end();
  });
});

test('a NUL is refused before it is sent', () => {
  expect(() => quoteLiteral('a\0b')).toThrow(RangeError);
  expect(() => quoteIdentifier('a\0b')).toThrow(RangeError);
  expect(() => quoteIdentifier('')).toThrow(RangeError);
});

test('a password that the server keeps with few iterations is sent to a verified server alone', async () => {
  const server = await startPostgres({ version: 18, tls: true, settings: { scram_iterations: 1000 } });
  const limits = { dbname: 'postgres', limit: 5000 };
  const ca = server.ca === undefined ? {} : { ca: server.ca };
  await server.query("SET scram_iterations = 1000; ALTER ROLE postgres PASSWORD 'secret'");
  await server.rules('host all all 127.0.0.1/32 scram-sha-256');
  for (const ssl of ['require', 'disable'] as const) {
    await expect(connectPostgresql({ ...sourceOf(server), ssl }, limits)).rejects.toMatchObject({ code: 'WEAK_SCRAM' });
  }
  const verified = { ...sourceOf(server), ssl: 'require', verify: { what: 'chain', ...ca } } as const;
  await (await connectPostgresql(verified, limits)).end();
  await server.query("SET scram_iterations = 4096; ALTER ROLE postgres PASSWORD 'secret'");
  await (await connectPostgresql({ ...sourceOf(server), ssl: 'disable' }, limits)).end();
});
