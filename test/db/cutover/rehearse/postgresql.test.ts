import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import {
  listTablesWithCopiedColumns,
  readSequenceStatesAsText,
  readTableContentDigests,
} from '../../../../src/db/cutover/postgresql/tables.ts';
import { startRehearsalWatch } from '../../../../src/db/cutover/rehearse/catch-up.ts';
import { dropDatabases, dropRoles } from '../../../../src/db/cutover/rehearse/clean-up.ts';
import {
  dropAddedObjects,
  listExisting,
  lockTarget,
  readObjectNames,
} from '../../../../src/db/cutover/rehearse/existing.ts';
import { createTarget } from '../../../../src/db/cutover/rehearse/postgresql.ts';
import type { RecordFile, RehearsalRecord } from '../../../../src/db/cutover/rehearse/record.ts';
import type { EngineSystem } from '../../../../src/db/engine/input.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { connectPostgresql } from '../../../../src/postgresql/connection.ts';
import { makeSessionSafe, type SafeSession } from '../../../../src/postgresql/search-path-safe-session.ts';
import { runCloudctl, startCloudctl } from '../../../commands/run-cloudctl.ts';
import { commandIo } from '../../../fixtures/command-io.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../../fixtures/host.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { startRedis } from '../../../fixtures/redis.ts';
import {
  objectsOn,
  postgresEndpointOf,
  startSource,
  startTarget,
  subscriptionsOn,
  testEngineDependencies,
  waitUntil,
} from '../../engine/servers.ts';

test('the screen says what the rehearsal waits for, and that Ctrl-C ends it', async () => {
  const server = await startRedis();
  try {
    const host = testHost({ terminal: 80 });
    const address = { host: server.host, port: server.port, username: undefined, password: undefined, db: undefined };
    const source = { engine: 'redis', source: { ...address, ssl: 'disable' } } as const;
    const watch = await startRehearsalWatch(commandIo(host), { source, ignoreDbs: [], slots: [], interval: 1000 });
    watch.onWait({
      ...{ key: 'k', state: 'comparing the keys of db0', ends: 'ends when they are equal' },
      isCopied: true,
    });
    await vi.waitFor(() => expect(host.err()).toContain('Ctrl-C'), { timeout: 20_000 });
    await watch.stop();
    const lines = stripVTControlCharacters(host.err()).split(/\r?\n/);
    // The next poll begins on the last line of the screen.
    const [footer] = lines.find((line) => line.startsWith('Ctrl-C'))?.split('rehearsal of ') ?? [];
    // The memory of an empty server depends on its clients.
    const screen = lines
      .slice(1, 5)
      .join('\n')
      .replaceAll(/\d+ kB/g, '26 kB');
    expectGolden('db-rehearse', `${screen}\n${footer}\n`);
  } finally {
    await server.stop();
  }
});

describe('databases that are created', () => {
  let source: Postgres;
  let target: Postgres;

  beforeAll(async () => {
    [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
    for (const role of ['app', 'late']) await source.query(`CREATE ROLE ${role}`);
  });

  afterAll(async () => {
    await Promise.all([source?.stop(), target?.stop()]);
  });

  const shop = {
    ...{ oid: '1', name: 'shop', encoding: 'UTF8', collate: 'C', ctype: 'C' },
    ...{ provider: 'c', locale: null, rules: null },
  };
  const nothing = { extensions: ['plpgsql'], schemas: ['public'], publications: [], eventTriggers: [] };

  function memoryFile(): RecordFile {
    let current: RehearsalRecord = {
      ...{ id: 'r', engine: 'postgresql', source: 'a:1', target: 'b:2', command: '', system: '' },
      ...{ databases: [], roles: [], filled: [], objects: [] },
    };
    return {
      current: () => current,
      change: (part) => {
        current = { ...current, ...part };
      },
      remove: () => {},
    };
  }

  async function create(
    plan: Parameters<typeof createTarget>[0]['plan'],
    more: Partial<EngineSystem> = {},
  ): Promise<{ readonly record: RehearsalRecord; readonly error: unknown }> {
    const file = memoryFile();
    const endpoints = { source: postgresEndpointOf(source), target: postgresEndpointOf(target) };
    const params = { endpoints, plan, file, signal: new AbortController().signal };
    const error = await createTarget(params, testEngineDependencies(more)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { record: file.current(), error };
  }

  test('roles and databases of a statement of the rehearsal are recorded with their oids', async () => {
    const { record, error } = await create({ missing: [shop], filled: [] });
    expect(error).toBeUndefined();
    const [database] = await target.query("SELECT oid::text FROM pg_database WHERE datname = 'shop'");
    expect(record.databases).toEqual([{ name: 'shop', oid: database?.oid }]);
    expect(record.roles.map(({ name }) => name).sort()).toEqual(['app', 'late']);
    for (const { oid } of record.roles) expect(oid).toMatch(/^\d+$/);
    await target.query('DROP DATABASE shop');
    await target.query('DROP ROLE app, late');
  });

  test('what another program creates at the same moment is an error for a database, and is never recorded', async () => {
    let isFirst = true;
    const random = (bytes: number): Uint8Array => new Uint8Array(bytes);
    const ports = testEngineDependencies();
    const { record, error } = await create(
      { missing: [shop], filled: [] },
      {
        random,
        // The other program acts after the roles of the target were listed, before the first one is created.
        connectPostgres: async (...params) => {
          const session = await ports.connectPostgres(...params);
          return {
            ...session,
            async query(text, limit) {
              if (isFirst && text.includes('CREATE ROLE')) {
                isFirst = false;
                await target.query('CREATE ROLE late');
                await target.query('CREATE DATABASE shop');
              }
              return session.query(text, limit);
            },
          };
        },
      },
    );
    expect(error).toMatchObject({ code: 'preflight_blocked' });
    expect(record.databases).toEqual([]);
    expect(record.roles.map(({ name }) => name)).toEqual(['app']);
    await target.query('DROP DATABASE shop');
    await target.query('DROP ROLE app, late');
  });

  test('a database that was empty when the rehearsal was planned, and is not any more, is an error and not recorded', async () => {
    await target.query('CREATE DATABASE empty');
    await target.query('CREATE TABLE theirs (id int)', 'empty');
    const { record, error } = await create({ missing: [], filled: [{ name: 'empty', oid: '1', ...nothing }] });
    expect(error).toMatchObject({ code: 'preflight_blocked', detail: expect.stringContaining('theirs') });
    expect(record.filled).toEqual([]);
  });

  test('the oid of a database that will be filled is recorded', async () => {
    await target.query('CREATE DATABASE oids');
    const [database] = await target.query("SELECT oid::text FROM pg_database WHERE datname = 'oids'");
    const { record } = await create({ missing: [], filled: [{ name: 'oids', ...nothing }] });
    expect(record.filled).toMatchObject([{ name: 'oids', oid: database?.oid }]);
  });
});

describe('the target', () => {
  let server: Postgres;

  beforeAll(async () => {
    server = await startPostgres();
  });

  afterAll(() => server?.stop());

  async function inside<T>(dbname: string, work: (session: SafeSession) => Promise<T>): Promise<T> {
    const { host, port } = server;
    const endpoint = { host, port, dbname, username: 'postgres', password: new Secret(server.password) } as const;
    const session = await makeSessionSafe(
      await connectPostgresql({ ...endpoint, ssl: 'disable' }, { dbname, limit: 10_000 }),
    );
    try {
      return await work(session);
    } finally {
      await session.end();
    }
  }

  test('a database that was filled is put back to what it was, extensions of its own included', async () => {
    await server.query('CREATE DATABASE bare');
    await server.query('CREATE EXTENSION hstore', 'bare');
    const before = await inside('bare', async (session) => {
      expect(await listExisting(session)).toEqual([]);
      return readObjectNames(session);
    });
    await server.query(
      `CREATE SCHEMA "Own"; CREATE TABLE "Own".t (id serial); CREATE TABLE base (id int PRIMARY KEY, h hstore);
     CREATE VIEW seen AS SELECT * FROM base; CREATE TYPE mood AS ENUM ('a'); CREATE DOMAIN d AS int;
     CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE MATERIALIZED VIEW m AS SELECT 1 AS one;
     CREATE PUBLICATION p FOR TABLE base; CREATE EXTENSION citext; SELECT lo_create(4711)`,
      'bare',
    );
    await inside('bare', async (session) => {
      expect(await listExisting(session)).toContain('table public.base');
      expect(await dropAddedObjects(session, before, [])).toEqual([]);
      expect(await readObjectNames(session)).toEqual(before);
    });
  });

  test('only what has the oid of what was made is dropped', async () => {
    for (const name of ['mine', 'theirs', 'doubtful']) await server.query(`CREATE DATABASE ${name}`);
    await server.query('CREATE ROLE "Role of mine"');
    const [oid] = await server.query("SELECT oid::text FROM pg_database WHERE datname = 'mine'");
    const [role] = await server.query("SELECT oid::text FROM pg_roles WHERE rolname = 'Role of mine'");
    await inside('postgres', async (session) => {
      const made = [{ name: 'mine', oid: String(oid?.oid) }, { name: 'theirs', oid: '1' }, { name: 'doubtful' }];
      expect(await dropDatabases(session, made, 180_000)).toMatchObject({
        dropped: ['mine', 'theirs'],
        leftovers: [],
        uncertain: [{ object: 'database doubtful', statement: 'DROP DATABASE "doubtful" WITH (FORCE)' }],
      });
      expect(await dropRoles(session, [{ name: 'Role of mine', oid: String(role?.oid) }])).toMatchObject({
        leftovers: [],
      });
    });
    const left = await server.query(
      "SELECT datname FROM pg_database WHERE datname IN ('mine', 'theirs', 'doubtful') ORDER BY 1",
    );
    expect(left.map(({ datname }) => datname)).toEqual(['doubtful', 'theirs']);
  });

  test('rows are counted where they are, and sequences tell whether they were given out', async () => {
    await server.query('CREATE DATABASE counted');
    await server.query(
      `CREATE TABLE part (id int, at int) PARTITION BY RANGE (at); CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9);
     INSERT INTO part VALUES (1, 1), (2, 2); CREATE UNLOGGED TABLE "odd name" (id serial)`,
      'counted',
    );
    await inside('counted', async (session) => {
      const tables = await listTablesWithCopiedColumns(session);
      expect(tables.map(({ name, isUnlogged }) => [name, isUnlogged])).toEqual([
        ['public.odd name', true],
        ['public.part_1', false],
      ]);
      const gone = {
        ...{
          name: 'public.gone',
          quoted: '"public"."gone"',
          isUnlogged: false,
          generated: [],
          canQuery: false,
          isSmall: false,
        },
        table: { schema: 'public', name: 'gone', columns: [] },
      };
      const onFailure = (name: string) => expect.unreachable(name);
      const contents = await readTableContentDigests(session, [...tables, gone], {
        limit: 10_000,
        oldest: 140_000,
        onFailure,
      });
      expect([...contents].map(([name, { rows }]) => [name, rows])).toEqual([
        ['public.odd name', 0],
        ['public.part_1', 2],
      ]);
      expect([...(await readSequenceStatesAsText(session)).keys()]).toEqual(['public.odd name_id_seq']);
      // A table that cannot be read in time counts as not read, not as empty.
      await inside('counted', async (locking) => {
        await locking.query('BEGIN; LOCK TABLE public.part_1 IN ACCESS EXCLUSIVE MODE');
        const reading = readTableContentDigests(session, tables, { limit: 500, oldest: 140_000, onFailure });
        await expect(reading).rejects.toMatchObject({ lost: true });
      });
    });
  });
});

describe('the lock', () => {
  let server: Postgres;

  beforeAll(async () => {
    server = await startPostgres({ version: 17 });
    await server.query('CREATE DATABASE other');
  });

  afterAll(() => server?.stop());

  const lock = (source: string, dbname = 'postgres') =>
    lockTarget(postgresEndpointOf(server, { dbname }), source, testEngineDependencies(), new AbortController().signal);

  test('a second rehearsal into the server is busy, whatever its database, and learns which one runs', async () => {
    const first = await lock('a.example.com:5432');
    await expect(lock('b.example.com:5432', 'other')).rejects.toMatchObject({
      code: 'busy',
      detail: expect.stringContaining('cloudctl-rehearsal of a.example.com:5432, from 127.0.0.1, user postgres'),
      hint: expect.stringContaining('pg_terminate_backend'),
    });
    await first.release();
    await (await lock('b.example.com:5432', 'other')).release();
  });

  test('the lock ends with its session', async () => {
    await lock('a');
    await server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^cloudctl-reh'",
    );
    await (await lock('b')).release();
  });
});

describe('rehearsals at the same time', () => {
  let sources: readonly Postgres[];
  let target: Postgres;

  beforeAll(async () => {
    [target, ...sources] = await Promise.all([
      startTarget({ version: 17 }),
      startSource({ version: 14 }),
      startSource({ version: 14 }),
    ]);
    for (const source of sources) {
      await source.query('CREATE ROLE app');
      await source.query('CREATE DATABASE shop');
      await source.query('CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 100)', 'shop');
    }
    // The copy of this table fails on the target, so the first rehearsal runs until it is interrupted.
    await sources[0]?.query(
      `CREATE FUNCTION old() RETURNS bool LANGUAGE sql AS $$ SELECT current_setting('server_version_num')::int < 150000 $$;
     CREATE TABLE picky (id int PRIMARY KEY, CHECK (public.old())); INSERT INTO picky VALUES (1)`,
      'shop',
    );
    await target.query('CREATE DATABASE shop');
  });

  afterAll(() => Promise.all([...sources, target].map((server) => server?.stop())));

  /** A machine with its own state folder. */
  function machine(): TestHost {
    return { ...testHost({ env: { PGPASSWORD: 'secret' } }), clock: { ...systemClock, advance: () => {} } };
  }

  const words = (source: Postgres | undefined) => [
    ...['db', 'rehearse', '--source', source?.url('shop') ?? '', '--disable-ssl', '--into', target.url()],
    ...['--accept', 'listen-addresses', '--yes', '-o', 'json'],
  ];

  test('a rehearsal from another machine is busy while one runs, and removes nothing of it', async () => {
    const [first, second] = [machine(), machine()];
    const running = startCloudctl(first, words(sources[0]));
    const both = waitUntil(async () => (await subscriptionsOn(target)).length === 2, 'both subscriptions');
    await Promise.race([both, running.ended.then(({ err }) => expect.unreachable(err))]);
    const other = await runCloudctl(second, words(sources[1]));
    expect(other.error()).toMatchObject({
      code: 'busy',
      detail: expect.stringContaining(`cloudctl-rehearsal of 127.0.0.1:${sources[0]?.port}`),
    });
    expect(await subscriptionsOn(target)).toHaveLength(2);
    running.host.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await subscriptionsOn(target)).toEqual([]);
    const next = await runCloudctl(second, words(sources[1]));
    expect(next.code, next.err).toBe(0);
    // The database that existed is still there, and empty; roles, slots and copies are gone.
    expect(await target.query("SELECT relname FROM pg_class WHERE relname = 't'", 'shop')).toEqual([]);
    expect(await target.query('SELECT rolname FROM pg_roles WHERE oid >= 16384')).toEqual([]);
    for (const source of sources) expect(await objectsOn(source)).toEqual([]);
  });
});
