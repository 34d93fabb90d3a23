import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { InventorySourceCheckResult } from '../../src/inventory/check-inventory-source.ts';
import { checkQueuedSources, type InventoryWorkQueueWorkerOptions } from '../../src/inventory/check-queued-sources.ts';
import { buildUncheckedSourceOutcome } from '../../src/inventory/inventory-source-outcome.ts';
import type { ClaimedInventorySource, InventoryWorkQueue } from '../../src/inventory/inventory-work-queue.ts';
import { systemClock } from '../../src/platform/clock.ts';

interface Row {
  holder?: string | undefined;
  fence: number;
  outcome?: string;
}

/** A queue in memory; leases do not expire. */
function memoryQueue(
  rows: Map<number, Row>,
  addressOf: (line: number) => string,
): InventoryWorkQueue & { released: number[] } {
  const released: number[] = [];
  const free = (line: number, row: Row) => row.outcome === undefined && row.holder === undefined && line > 0;
  return {
    released,
    fill: async () => {},
    contents: async () => undefined,
    sources: async () => [],
    async claim({ lines, addresses }): Promise<ClaimedInventorySource | undefined> {
      const found = [...rows].find(
        ([line, row]) => free(line, row) && !lines.includes(line) && !addresses.includes(addressOf(line)),
      );
      if (found === undefined) return undefined;
      const [line, row] = found;
      row.holder = 'me';
      row.fence += 1;
      return { line, fence: row.fence };
    },
    renew: async () => {},
    async release({ line }) {
      released.push(line);
      const row = rows.get(line);
      if (row !== undefined) row.holder = undefined;
    },
    async record({ line }, outcome) {
      const row = rows.get(line);
      if (row === undefined) return false;
      const isFirst = row.outcome === undefined;
      row.outcome = outcome;
      return isFirst;
    },
    counts: async () => ({
      finished: [...rows.values()].filter(({ outcome }) => outcome !== undefined).length,
      held: 0,
      total: rows.size,
    }),
    outcomes: async () => [],
  };
}

const origin = { name: 'n', url: 'u', engine: 'postgresql', method: 'continuous' } as const;
const checked = (line: number, lacksPassword = false): InventorySourceCheckResult => ({
  outcome: buildUncheckedSourceOutcome({ line, ...origin }, 'none'),
  lacksPassword,
});

function work(
  count: number,
  check: InventoryWorkQueueWorkerOptions['check'],
  more: Partial<InventoryWorkQueueWorkerOptions> = {},
) {
  const rows = new Map(Array.from({ length: count }, (_, at): [number, Row] => [at + 1, { fence: 0 }]));
  const addressOf = (line: number) => `h${line % 2}`;
  const queue = memoryQueue(rows, addressOf);
  const ran = checkQueuedSources({
    queue,
    clock: systemClock,
    signal: new AbortController().signal,
    lease: 40,
    parallel: 4,
    perServer: 1,
    addressOf,
    check,
    onOutcome: async () => {},
    onProgress: () => {},
    ...more,
  });
  return { ran, rows, queue };
}

it('checks every source, with the limit of each address', async () => {
  const now = new Map<number, number>();
  let most = 0;
  const { ran, rows } = work(12, async (line) => {
    now.set(line % 2, (now.get(line % 2) ?? 0) + 1);
    most = Math.max(most, now.get(line % 2) ?? 0);
    await after(2);
    now.set(line % 2, (now.get(line % 2) ?? 0) - 1);
    return checked(line);
  });
  await ran;
  expect(most).toBe(1);
  expect([...rows.values()].every(({ outcome }) => outcome !== undefined)).toBe(true);
});

it('an outcome that another machine has stored before is not printed', async () => {
  const printed: number[] = [];
  const { ran, rows } = work(
    2,
    async (line) => {
      const row = rows.get(line);
      if (line === 1 && row !== undefined) row.outcome = 'of another machine';
      return checked(line);
    },
    { onOutcome: async ({ line }) => void printed.push(line) },
  );
  await ran;
  expect(printed).toEqual([2]);
});

it('returns a source without a password once, and stores its outcome if nobody else takes it', async () => {
  const { ran, rows, queue } = work(2, async (line) => checked(line, line === 1));
  await ran;
  expect(queue.released).toEqual([1]);
  expect(rows.get(1)?.outcome).toBeDefined();
});

it('an error of the program ends the work, and Ctrl-C returns what is held', async () => {
  await expect(work(1, () => Promise.reject(new Error('broken'))).ran).rejects.toThrow('broken');
  const stop = new AbortController();
  const check = async () => {
    stop.abort();
    throw new Error('cancelled');
  };
  const { ran, queue } = work(1, check, { signal: stop.signal });
  await ran;
  expect(queue.released).toEqual([1]);
});
