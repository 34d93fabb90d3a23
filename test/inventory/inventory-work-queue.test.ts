import { setTimeout as after } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createInventoryWorkQueue, type InventoryWorkQueue } from '../../src/inventory/inventory-work-queue.ts';
import {
  openQueueDatabaseSession,
  readInventoryQueueServerFromEnvironment,
} from '../../src/inventory/inventory-work-queue-session.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ version: 17, direct: true });
  return () => server.stop();
}, 60_000);

const contents = { fingerprint: 'f', options: '{}', total: 0 };
const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ line: at + 1, address: `h${at % 3}`, cells: `{"url":"${at}'\\\\"}` }));
const none = { lines: [], addresses: [] };

function open(name: string, lease = 60_000): InventoryWorkQueue {
  const url = `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres?sslmode=disable`;
  const source = readInventoryQueueServerFromEnvironment({ CLOUDCTL_QUEUE_URL: url }, 'linux', () => undefined);
  const session = openQueueDatabaseSession(source, { clock: systemClock, signal: new AbortController().signal });
  onTestFinished(() => session.end());
  return createInventoryWorkQueue(session.send, { name, holder: `${Math.random()}`, lease });
}

async function filled(name: string, count: number, lease?: number): Promise<InventoryWorkQueue> {
  const queue = open(name, lease);
  await queue.fill({ ...contents, total: count }, 'me', rows(count));
  return queue;
}

it('a queue that does not exist has no contents; machines that fill it at the same time fill it once', async () => {
  expect(await open('new').contents()).toBeUndefined();
  const all = Array.from({ length: 5 }, () => open('new'));
  await Promise.all(
    all.map((queue, at) => queue.fill({ ...contents, fingerprint: `${at}`, total: 700 }, 'me', rows(700))),
  );
  expect(await all[0]?.contents()).toMatchObject({ total: 700 });
  const sources = await open('new').sources();
  expect(sources).toEqual(rows(700));
});

it('each source is claimed by one machine', async () => {
  await filled('shared', 60);
  const machines = Array.from({ length: 6 }, () => open('shared'));
  const claims = await Promise.all(
    machines.map(async (queue) => {
      const lines: number[] = [];
      for (let claim = await queue.claim(none); claim !== undefined; claim = await queue.claim({ ...none, lines }))
        lines.push(claim.line);
      return lines;
    }),
  );
  expect(claims.flat().toSorted((a, b) => a - b)).toEqual(rows(60).map(({ line }) => line));
  expect(await machines[0]?.counts()).toEqual({ finished: 0, held: 60, total: 60 });
});

it('lines and addresses can be left out of a claim', async () => {
  const queue = await filled('left out', 6);
  expect(await queue.claim({ lines: [1], addresses: ['h1'] })).toEqual({ line: 3, fence: 1 });
  expect(await queue.claim({ lines: [1, 3, 4, 6], addresses: ['h1'] })).toBeUndefined();
});

it('a source is taken again after its lease, unless the lease is renewed', async () => {
  const [dead, alive, other] = [await filled('lease', 2, 2_000), open('lease', 2_000), open('lease')];
  const [first, second] = [await dead.claim(none), await alive.claim(none)];
  expect(await other.claim(none)).toBeUndefined();
  for (let n = 0; n < 4; n++) {
    await after(600);
    await alive.renew([second?.line ?? 0]);
  }
  expect(await other.claim(none)).toEqual({ line: first?.line, fence: 2 });
  expect(await other.claim({ ...none, lines: [first?.line ?? 0] })).toBeUndefined();
  // It woke up: the source belongs to another machine now.
  await dead.renew([first?.line ?? 0]);
  expect(await other.counts()).toMatchObject({ held: 2 });
});

it('the outcome of the newest claim is kept, in whatever order outcomes arrive', async () => {
  const slow = await filled('fence', 1, 1);
  const first = (await slow.claim(none)) ?? { line: 0, fence: 0 };
  await after(20);
  const fast = open('fence');
  const second = (await fast.claim(none)) ?? { line: 0, fence: 0 };
  expect(await slow.record(first, 'first')).toBe(true);
  // As after a lost connection.
  expect(await slow.record(first, 'first')).toBe(true);
  expect(await fast.outcomes(0, 10)).toEqual([{ line: 1, outcome: 'first' }]);
  expect(await fast.record(second, "second' \\")).toBe(false);
  expect(await slow.record(first, 'first')).toBe(false);
  expect(await fast.outcomes(0, 10)).toEqual([{ line: 1, outcome: "second' \\" }]);
  expect(await fast.counts()).toEqual({ finished: 1, held: 0, total: 1 });
  expect(await fast.claim(none)).toBeUndefined();
});

it('a claim whose answer was lost is found again by its machine at once, and by no other', async () => {
  const [queue, other] = [await filled('lost answer', 2), open('lost answer')];
  await queue.claim(none);
  await queue.claim({ ...none, lines: [1] });
  expect(await other.claim(none)).toBeUndefined();
  expect(await queue.claim({ lines: [1], addresses: [] })).toEqual({ line: 2, fence: 2 });
  expect(await queue.claim({ lines: [1, 2], addresses: [] })).toBeUndefined();
});

it('a returned source is free at once', async () => {
  const queue = await filled('returned', 1);
  const claim = (await queue.claim(none)) ?? { line: 0, fence: 0 };
  await queue.release(claim);
  expect(await open('returned').claim(none)).toEqual({ line: 1, fence: 2 });
});

it('a restart of the server does not end the work', async () => {
  const queue = await filled('restart', 3);
  await server.crash();
  const claim = queue.claim(none);
  await server.start();
  const found = await claim;
  expect(found?.line).toBe(1);
  await server.restart();
  await queue.record(found ?? { line: 0, fence: 0 }, 'done');
  expect(await queue.counts()).toMatchObject({ finished: 1 });
}, 60_000);
