import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { SourceInventoryReport } from '../../../src/inventory/source-inventory-report.ts';
import { type Ran, type Running, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { parseInventoryLines } from '../../fixtures/inventory-schema.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { eventually } from '../../fixtures/redis.ts';
import { startTcpRelay } from '../../fixtures/tcp-relay.ts';

let folders: Folders;
let sources: Postgres;
let queue: Postgres;
const names = Array.from({ length: 40 }, (_, at) => `db${at}`);

beforeAll(async () => {
  folders = makeFolders();
  [sources, queue] = await Promise.all([
    startPostgres({
      version: 17,
      settings: { ...ready, max_replication_slots: 60, max_wal_senders: 60 },
      direct: true,
    }),
    startPostgres({ version: 16, direct: true }),
  ]);
  for (const name of names) await sources.query(`CREATE DATABASE ${name} STRATEGY file_copy`);
  mkdirSync(folders.work, { recursive: true });
  const lines = names.map((name) => `postgres://postgres@127.0.0.1:${sources.port}/${name}?sslmode=disable,${name}`);
  writeFileSync(join(folders.work, 'sources.csv'), ['url,name', ...lines, ''].join('\n'));
  // Each source takes at least this long, so that the faults meet work in progress.
  const script = join(folders.work, 'password.sh');
  writeFileSync(script, `#!/bin/sh\nsleep 0.4\necho '${sources.password}'\n`);
  chmodSync(script, 0o700);
}, 90_000);

afterAll(async () => {
  await Promise.all([sources?.stop(), queue?.stop()]);
  folders?.remove();
});

const queueUrl = (port: number) => `postgres://postgres:${queue.password}@127.0.0.1:${port}/postgres?sslmode=disable`;

/** A machine of the queue; the one with `fills` fills it. Each prints the sources whose outcomes it has stored. */
function machine(name: string, { port = queue.port, fills = false } = {}): Running {
  const fill = ['--sources', 'sources.csv', '--scope', 'database', '--allow-private', '--target-version', '18'];
  const own = ['--lease', '2s', '--parallel', '2', '--password-command', '["./password.sh"]', '-o', 'ndjson'];
  const started = start(['db', 'preflight', '--queue', name, ...own, ...(fills ? fill : [])], {
    folders,
    env: { CLOUDCTL_QUEUE_URL: queueUrl(port) },
    limit: 100_000,
  });
  onTestFinished(() => started.kill('SIGKILL'));
  return started;
}

/** The number of sources with an outcome; -1 while the queue is not filled or its server is away. */
async function finished(name: string): Promise<number> {
  const [row] = await queue
    .query<{ total: string; count: string }>(
      `SELECT count(*) AS total, count(outcome) FROM cloudctl_inventory.source WHERE inventory = '${name}'`,
    )
    .catch(() => []);
  return Number(row?.total ?? 0) === 0 ? -1 : Number(row?.count);
}

/** Resolves when so many sources have an outcome. */
const untilFinished = (name: string, count: number) =>
  eventually(async () => (await finished(name)) >= count, `${count} outcomes`);

async function startMachines(name: string, port?: number): Promise<readonly [Running, Running, Running]> {
  const first = machine(name, { fills: true });
  await untilFinished(name, 0);
  return [first, machine(name), machine(name, port === undefined ? {} : { port })];
}

const printedBy = (text: string): readonly string[] =>
  parseInventoryLines(text.slice(0, text.lastIndexOf('\n') + 1)).map(({ name }) => name);

/** Every source is in the report once, none was printed twice, and the program says that all are possible. */
async function expectComplete(name: string, ended: readonly Ran[], killed: readonly Running[] = []): Promise<void> {
  for (const ran of ended) expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  const printed = [...ended.map(({ stdout }) => stdout), ...killed.map((one) => one.printed().stdout)].flatMap(
    printedBy,
  );
  expect(printed.toSorted()).toEqual([...new Set(printed)].toSorted());
  // A killed machine may have stored an outcome that it did not print.
  expect(printed.length).toBeGreaterThanOrEqual(names.length - killed.length * 2);
  const report = await run(['db', 'preflight', '--queue', name, '-o', 'json'], {
    folders,
    env: { CLOUDCTL_QUEUE_URL: queueUrl(queue.port) },
  });
  expect(report.code).toBe(0);
  expect(report.json<SourceInventoryReport>().summary).toMatchObject({ sources: names.length, possible: names.length });
  expect(report.json<SourceInventoryReport>().sources.map((row) => row.name)).toEqual(names);
}

it('kill -9 of the PostgreSQL of the queue loses no source and reports none twice', { timeout: 120_000 }, async () => {
  const machines = await startMachines('kill9');
  for (const count of [6, 18]) {
    await untilFinished('kill9', count);
    await killAndStart();
  }
  await expectComplete('kill9', await Promise.all(machines.map(({ ended }) => ended)));
});

it('a machine that is killed while it holds sources loses none', { timeout: 120_000 }, async () => {
  const [first, second, third] = await startMachines('worker');
  await untilFinished('worker', 8);
  second.kill('SIGKILL');
  await second.ended;
  const held = await queue.query(
    "SELECT 1 FROM cloudctl_inventory.source WHERE inventory = 'worker' AND outcome IS NULL AND holder IS NOT NULL",
  );
  expect(held.length).toBeGreaterThan(0);
  await expectComplete('worker', await Promise.all([first.ended, third.ended]), [second]);
});

it('a machine that is stopped beyond its leases prints no source that another one has printed', {
  timeout: 120_000,
}, async () => {
  const machines = await startMachines('stopped');
  await untilFinished('stopped', 8);
  machines[1].kill('SIGSTOP');
  await after(3500);
  machines[1].kill('SIGCONT');
  await expectComplete('stopped', await Promise.all(machines.map(({ ended }) => ended)));
});

it('connections to the queue that are cut again and again lose no source', { timeout: 120_000 }, async () => {
  const relay = await startTcpRelay(queue.port);
  onTestFinished(() => relay.stop());
  const machines = await startMachines('cut', relay.port);
  let cut = 0;
  const isOver = () => machines.every(({ child }) => child.exitCode !== null);
  const cutting = (async () => {
    while (!isOver()) {
      await after(150);
      cut += relay.cutAll();
    }
  })();
  const ended = await Promise.all(machines.map((one) => one.ended));
  await cutting;
  expect(cut).toBeGreaterThan(5);
  await expectComplete('cut', ended);
});

it('everything at once: the server, a machine and the connections', { timeout: 120_000 }, async () => {
  const relay = await startTcpRelay(queue.port);
  onTestFinished(() => relay.stop());
  const [first, second, third] = await startMachines('all', relay.port);
  await untilFinished('all', 4);
  second.kill('SIGKILL');
  relay.cutAll();
  await untilFinished('all', 10);
  await killAndStart();
  relay.cutAll();
  await expectComplete('all', await Promise.all([first.ended, third.ended]), [second]);
});

/** As after a crash of the machine; the server recovers from its write-ahead log. */
async function killAndStart(): Promise<void> {
  process.kill(queue.pid(), 'SIGKILL');
  // Its other processes end when they notice; until then a new server refuses to use the folder.
  await eventually(
    () =>
      queue.start().then(
        () => true,
        () => false,
      ),
    'the server of the queue',
  );
}
