import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/platform/host.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { startPgbouncer } from '../../../fixtures/pgbouncer.ts';
import { isPinnedTransaction, readOnlyPin } from '../../../fixtures/pin-rules.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { found, preflightServer } from './preflight.ts';
import { proxyTo } from './proxy.ts';

let server: Postgres;

beforeAll(async () => {
  server = await startPostgres({
    version: 17,
    settings: { ...ready, max_replication_slots: 40, max_wal_senders: 40 },
    setup: [
      'CREATE DATABASE d1',
      'CREATE DATABASE d2',
      'CREATE DATABASE "My-DB"',
      `CREATE ROLE bare LOGIN PASSWORD 'secret'`,
    ],
  });
}, 60_000);
afterAll(() => server.stop());

test('every database but the templates and the ignored ones is queried and counts for the verdict', async () => {
  const report = await preflightServer({ ...server, options: { ignoreDbs: ['My-DB'] } });
  expect(report.databases).toMatchObject([
    { name: 'd1', verdict: 'continuous', tables: 0, reasons: [] },
    { name: 'd2', verdict: 'continuous' },
    { name: 'postgres', verdict: 'continuous' },
  ]);
  expect(report).toMatchObject({
    verdict: 'continuous',
    ok: true,
    premises: [{ id: 'version-not-newer' }],
    summary: { fail: 0 },
  });
  expect(report.source).toMatchObject({ server_version: expect.stringMatching(/^17\./), role: { superuser: true } });
});

test('findings are in the order of the checks, one for each check and database', async () => {
  const { findings } = await preflightServer(server);
  const keys = findings.map(({ id, database }) => `${id} ${database ?? ''}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(findings.filter(({ id }) => id === 'db-names').map(({ database }) => database)).toEqual([
    'My-DB',
    'd1',
    'd2',
    'postgres',
  ]);
  const wal = findings.findIndex(({ id }) => id === 'wal-level');
  const names = findings.findIndex(({ id }) => id === 'db-names');
  expect(wal).toBeLessThan(names);
});

test('every message is read-only, and no setting outlives its transaction', async () => {
  const sent: string[] = [];
  const report = await preflightServer(
    { ...server, username: 'bare', password: 'secret' },
    { onQuery: (_database, text) => sent.push(text) },
  );
  const odd = sent.filter((text) => !isPinnedTransaction(text) && !['ROLLBACK', 'IDENTIFY_SYSTEM'].includes(text));
  expect(odd).toEqual([]);
  expect(report.queries).toBeGreaterThan(sent.length);
});

test('the first statement of every connection reads its server process', async () => {
  const sent = new Map<string, string[]>();
  await preflightServer(server, {
    onQuery: (database, text) => sent.set(database, [...(sent.get(database) ?? []), text]),
  });
  const first = [...sent.values()].map((texts) => texts.find((text) => text !== 'IDENTIFY_SYSTEM'));
  expect(new Set(first)).toEqual(new Set([`${readOnlyPin}SELECT pg_backend_pid() AS pid; COMMIT`]));
});

test('a role without privileges gets `unknown` with the missing grant, and every other finding', async () => {
  const report = await preflightServer({ ...server, username: 'bare', password: 'secret' });
  expect(found(report, 'hba-rule')).toMatchObject({
    status: 'unknown',
    fix: {
      sql: ['GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO "bare"', 'GRANT SELECT ON pg_hba_file_rules TO "bare"'],
      database: 'postgres',
    },
  });
  expect(found(report, 'superuser').status).toBe('fail');
  expect(report).toMatchObject({ verdict: 'dump', ok: false, proven: false });
  for (const statement of found(report, 'hba-rule').fix?.sql ?? []) await server.query(statement);
  expect(found(await preflightServer({ ...server, username: 'bare', password: 'secret' }), 'hba-rule').status).toBe(
    'pass',
  );
  for (const statement of found(report, 'hba-rule').fix?.undo ?? []) await server.query(statement);
  expect(found(await preflightServer({ ...server, username: 'bare', password: 'secret' }), 'hba-rule').status).toBe(
    'unknown',
  );
});

test('only the query that waits for a lock has no value', async () => {
  const holder = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'd1' });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE pg_publication IN ACCESS EXCLUSIVE MODE');
    const report = await preflightServer(server);
    expect(found(report, 'leftovers', 'd1')).toMatchObject({
      status: 'unknown',
      observed: expect.stringContaining('lock timeout'),
    });
    expect(found(report, 'collation', 'd1').status).toBe('pass');
    expect(found(report, 'leftovers', 'd2').status).toBe('pass');
    expect(report.proven).toBe(false);
  } finally {
    await holder.end();
  }
});

test('a database that hangs loses only its own findings, and the run ends at its deadline', async () => {
  const proxy = await proxyTo(server.port, (database) => (database === 'd1' ? 'hang' : 'pass'));
  try {
    const begun = Date.now();
    const report = await preflightServer({ ...server, port: proxy.port }, { deadline: 2000 });
    expect(Date.now() - begun).toBeLessThan(4000);
    expect(found(report, 'db-noconnect', 'd1')).toMatchObject({ status: 'fail' });
    const { status, observed } = found(report, 'collation', 'd1');
    expect(status).toBe('skip');
    expectGolden('db-preflight', observed);
    expect(found(report, 'collation', 'd2').status).toBe('pass');
    expect(found(report, 'wal-level').status).toBe('pass');
    expect(report).toMatchObject({ verdict: 'blocked', ok: false });
  } finally {
    await proxy.close();
  }
});

test('a lost connection is made anew once', async () => {
  let broken = 0;
  const proxy = await proxyTo(server.port, (database) => {
    if (database !== 'd1') return 'pass';
    broken += 1;
    return broken === 1 ? { breakAt: 2 } : 'pass';
  });
  try {
    const report = await preflightServer({ ...server, port: proxy.port });
    expect(report).toMatchObject({ verdict: 'continuous', premises: [{ id: 'version-not-newer' }] });
    expect(broken).toBe(2);
  } finally {
    await proxy.close();
  }
});

test('a database whose connection always breaks loses only its own findings', async () => {
  const proxy = await proxyTo(server.port, (database) => (database === 'd1' ? { breakAt: 2 } : 'pass'));
  try {
    const report = await preflightServer({ ...server, port: proxy.port });
    expect(found(report, 'collation', 'd1')).toMatchObject({
      status: 'unknown',
      observed: expect.stringContaining('closed'),
    });
    expect(found(report, 'collation', 'd2').status).toBe('pass');
    expect(report).toMatchObject({ verdict: 'blocked', ok: false });
  } finally {
    await proxy.close();
  }
});

test('the run waits for a server that restarts', async () => {
  let restarting: Promise<void> | undefined;
  const report = await preflightServer(server, {
    // Once the databases are known, all that was open breaks.
    onProgress: () => {
      restarting ??= server.restart();
    },
  });
  await restarting;
  expect(report.findings.filter(({ status }) => status === 'unknown').map(({ id }) => id)).toEqual([
    'version-not-newer',
  ]);
  expect(report).toMatchObject({ verdict: 'continuous', premises: [{ id: 'version-not-newer' }] });
}, 40_000);

describe('with twelve databases', () => {
  const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
  beforeAll(async () => {
    for (const name of names) await server.query(`CREATE DATABASE ${name}`);
  });
  afterAll(async () => {
    for (const name of names) await server.query(`DROP DATABASE ${name}`);
  });

  const peak = async (concurrency: number) => {
    const proxy = await proxyTo(server.port, () => 'pass');
    await preflightServer({ ...server, port: proxy.port }, { concurrency });
    await proxy.close();
    return proxy.peak();
  };

  test('no more connections are open than the limit', async () => {
    expect(await peak(6)).toBe(6);
  });

  test('and never more than a tenth of the free ones', async () => {
    // 100, of which 3 are reserved: 50 held leave 47 and our own.
    const held = Array.from({ length: 50 }, () => {
      return new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'postgres' });
    });
    await Promise.all(held.map((client) => client.connect()));
    try {
      expect(await peak(8)).toBe(4);
    } finally {
      await Promise.all(held.map((client) => client.end()));
    }
  });
});

test('a misspelt database in ignore_dbs ends the run with the closest name', async () => {
  await expect(preflightServer({ ...server, options: { ignoreDbs: ['d3'] } })).rejects.toMatchObject({
    code: 'usage',
    exitCode: 2,
    message: expect.stringContaining('"d3"'),
  });
});

test('an unknown id in --accept ends the run before anything is sent', async () => {
  await expect(preflightServer({ port: 1, options: { accept: ['wal-levle'] } })).rejects.toMatchObject({
    code: 'usage',
    hint: expect.stringContaining('"wal-level"'),
  });
});

test('the signal ends a run as cancelled', async () => {
  const proxy = await proxyTo(server.port, (database) => (database === 'd1' ? 'hang' : 'pass'));
  try {
    const running = preflightServer({ ...server, port: proxy.port }, { signal: AbortSignal.timeout(500) });
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  } finally {
    await proxy.close();
  }
});

test('a failed connection gives the verdict blocked, proven, with every check reported', async () => {
  const report = await preflightServer({ ...server, password: 'wrong' });
  expect(report).toMatchObject({ verdict: 'blocked', ok: false, proven: true, databases: [] });
  expect(found(report, 'wal-level')).toMatchObject({ status: 'skip' });
  expect(found(report, 'auth-password').status).toBe('fail');
});

test('progress counts every database', async () => {
  const seen: (readonly [number, number])[] = [];
  await preflightServer(server, { onProgress: (done, total) => seen.push([done, total]) });
  expect(seen[0]).toEqual([0, 4]);
  expect(seen.at(-1)).toEqual([4, 4]);
});

describe('databases that refuse', () => {
  beforeAll(async () => {
    await server.query('ALTER DATABASE d1 ALLOW_CONNECTIONS false');
  });
  afterAll(async () => {
    await server.query('ALTER DATABASE d1 ALLOW_CONNECTIONS true');
  });

  test('are blocked for both methods, their own checks are skipped, and ignoring them is the advice', async () => {
    const report = await preflightServer(server);
    expect(found(report, 'db-noconnect', 'd1')).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
    expect(found(report, 'collation', 'd1').status).toBe('skip');
    expect(report.databases.find(({ name }) => name === 'd1')).toMatchObject({
      verdict: 'blocked',
      reasons: ['db-noconnect'],
    });
    expect(report).toMatchObject({ verdict: 'blocked', advice: { ignore_dbs: ['d1'], verdict: 'continuous' } });
    expect((await preflightServer({ ...server, options: { ignoreDbs: ['d1'] } })).verdict).toBe('continuous');
  });
});

test('a check that decides by the current writes waits for the second reading, which does not count as duration', async () => {
  const report = await preflightServer({ ...server, options: { method: 'dump' } }, { walInterval: 1500 });
  expect(found(report, 'dump-quiesced').observed).toMatch(/of WAL in [12](\.\d)? s/);
  expect(report.duration_ms).toBeLessThan(1500);
});

test('without such a check the second reading follows the last query', async () => {
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      slept.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  const report = await preflightServer(server, { clock, walInterval: 60_000 });
  expect(found(report, 'dump-quiesced').observed).toMatch(/ of WAL in \d/);
  expect(slept.filter((ms) => ms > 0)).toEqual([]);
});

test('behind a pooler in transaction mode the settings of other clients do not change', async () => {
  const pooler = await startPgbouncer({ server });
  const other = new pg.Client({
    host: pooler.host,
    port: pooler.port,
    user: 'postgres',
    password: server.password,
    database: 'd1',
  });
  await other.connect();
  try {
    const settings = async () =>
      (await other.query("SELECT name, setting FROM pg_settings WHERE name <> 'application_name' ORDER BY name")).rows;
    const before = await settings();
    const report = await preflightServer({ ...server, port: pooler.port });
    expect(await settings()).toEqual(before);
    await other.query('CREATE TABLE after_preflight (id int)');
    expect(found(report, 'pooler-detected').status).toBe('fail');
  } finally {
    await other.query('DROP TABLE IF EXISTS after_preflight');
    await other.end();
  }
});
