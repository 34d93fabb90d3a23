import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type ProxyRules, startProxy } from '../../fixtures/pg-proxy.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { findingOf, idsOf, reportOf, runPreflight } from './preflight-run.ts';

const names = ['d1', 'd2', 'd3', 'd4', 'd5'];
let folders: Folders;
let server: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({ version: 17, settings: ready });
  await fill(server);
});

afterAll(async () => {
  await server?.stop();
  folders.remove();
});

async function fill(to: Postgres): Promise<void> {
  for (const name of names) await to.query(`CREATE DATABASE ${name}`);
  for (const name of names) await to.query('CREATE TABLE t (id int PRIMARY KEY)', name);
}

interface Timed {
  readonly ran: Ran;
  readonly report: PreflightReport;
  readonly seconds: number;
}

/** A run through a proxy that plays its tricks. */
async function through(rules: Omit<ProxyRules, 'port'>, to = server, more: readonly string[] = []): Promise<Timed> {
  const proxy = await startProxy({ port: to.port, ...rules });
  const url = (dbname = 'd1') => `postgres://postgres@127.0.0.1:${proxy.port}/${dbname}`;
  const begun = performance.now();
  try {
    const ran = await runPreflight({ ...to, url }, ['--target-version', '18', '-o', 'json', ...more], {
      folders,
      dbname: 'd1',
    });
    return { ran, report: reportOf(ran), seconds: (performance.now() - begun) / 1000 };
  } finally {
    proxy.stop();
  }
}

/** Every database but one was judged, and the server too. */
function othersAreJudged(report: PreflightReport, lost: string): void {
  expect(report.databases.map(({ name }) => name)).toEqual([...names, 'postgres']);
  for (const name of [...names, 'postgres'].filter((other) => other !== lost)) {
    expect(findingOf(report, 'replica-identity', name).status).toBe('pass');
  }
  for (const id of ['wal-level', 'slots-free', 'hba-rule', 'wal-rate', 'repl-connection']) {
    expect(findingOf(report, id).status).toBe('pass');
  }
  // What nobody could see is not passed, and not called possible.
  expect(findingOf(report, 'replica-identity', lost).status).toMatch(/^(skip|unknown)$/);
  expect(findingOf(report, 'db-noconnect', lost).status).toBe('fail');
  expect(report).toMatchObject({ verdict: 'blocked', ok: false });
}

describe.concurrent('in bounded time, with every other finding reported', () => {
  test('a server that takes the connection and never answers', async () => {
    const { ran, report, seconds } = await through({ route: () => 'silent' });
    expect(ran.code).toBe(3);
    expect(report).toMatchObject({ verdict: 'blocked', ok: false });
    expect(findingOf(report, 'tcp-connect')).toMatchObject({
      status: 'fail',
      observed: expect.stringContaining('10 s'),
    });
    expect(findingOf(report, 'wal-level').status).toBe('skip');
    expect(findingOf(report, 'host-public-address').status).toBe('pass');
    expect(seconds).toBeLessThan(30);
  });

  test('a database that takes the connection and never answers', async () => {
    const { report, seconds } = await through({ route: (name) => (name === 'd3' ? 'silent' : 'pass') });
    othersAreJudged(report, 'd3');
    expect(findingOf(report, 'db-noconnect', 'd3').observed).toContain('10 s');
    expect(seconds).toBeLessThan(30);
  });

  test('a server process that is stopped before its first answer', async () => {
    const stopped: number[] = [];
    const { report, seconds } = await through({
      onBackend(name, pid) {
        if (name !== 'd4') return;
        process.kill(pid, 'SIGSTOP');
        stopped.push(pid);
      },
    });
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    expect(stopped).not.toEqual([]);
    othersAreJudged(report, 'd4');
    expect(seconds).toBeLessThan(40);
  });

  test('a connection that breaks in the middle', async () => {
    const { report, seconds } = await through({ route: (name) => (name === 'd2' ? 'drop' : 'pass') });
    othersAreJudged(report, 'd2');
    expect(seconds).toBeLessThan(20);
  });

  test('a whole run that the deadline cuts short', async () => {
    const { report, seconds } = await through({ route: (name) => (name === 'd5' ? 'silent' : 'pass') }, server, [
      '--deadline',
      '3s',
    ]);
    expect(findingOf(report, 'db-noconnect', 'd5').observed).toContain('deadline');
    expect(findingOf(report, 'wal-level').status).toBe('pass');
    expect(report).toMatchObject({ verdict: 'blocked', ok: false });
    expect(seconds).toBeLessThan(8);
  });
});

test('a server that restarts in the middle is waited for', async () => {
  const own = await startPostgres({ version: 17, settings: ready });
  await fill(own);
  let restart: Promise<void> | undefined;
  const route = (name: string) => {
    if (name === 'd3') restart ??= own.restart();
    return 'pass' as const;
  };
  const { report, seconds } = await through({ route }, own);
  expect(restart).toBeDefined();
  await restart;
  expect(idsOf(report, 'fail')).toEqual([]);
  for (const id of ['wal-level', 'slots-free', 'hba-rule']) expect(findingOf(report, id).status).toBe('pass');
  // Whoever was just being let in is let in again.
  for (const name of names) expect(findingOf(report, 'replica-identity', name).status).toBe('pass');
  expect(report).toMatchObject({ proven: true, ok: true });
  expect(seconds).toBeLessThan(30);
});

test('20,000 tables are judged within the deadline, and the report names only some of them', async () => {
  const own = await startPostgres({ version: 17, settings: { ...ready, max_locks_per_transaction: 1024 } });
  await own.query(`DO $$ BEGIN FOR n IN 1..20000 LOOP EXECUTE 'CREATE TABLE t' || n || ' (id int)'; END LOOP; END $$`);
  const begun = performance.now();
  const ran = await runPreflight(own, ['--target-version', '18', '-o', 'json'], { folders });
  const seconds = (performance.now() - begun) / 1000;
  const report = reportOf(ran);
  expect(report.databases).toMatchObject([{ name: 'postgres', tables: 20_000 }]);
  expect(idsOf(report, 'unknown')).toEqual(['target-workers']);
  expect(findingOf(report, 'replica-identity', 'postgres')).toMatchObject({ status: 'warn' });
  expect(findingOf(report, 'replica-identity', 'postgres').observed).toContain('20');
  expect(ran.stdout.length).toBeLessThan(5_000_000);
  expect(seconds).toBeLessThan(20);
});
