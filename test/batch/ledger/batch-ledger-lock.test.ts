import { existsSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createBatchLedgerAtPath, openExistingBatchLedger } from '../../../src/batch/ledger/batch-ledger.ts';
import { acquireBatchLedgerLock, buildBatchLedgerLockPath } from '../../../src/batch/ledger/batch-ledger-lock.ts';
import { tryAcquireFileLock } from '../../../src/platform/file-lock.ts';
import type { Clock } from '../../../src/platform/host.ts';
import { batchOf, testBootId, testLedgerPath } from '../batch-fixtures.ts';

/** A clock whose sleeps end at once; `during` runs in the third one. */
function sleeplessClock(during: () => void = () => {}) {
  const sleeps: number[] = [];
  const sleep = async (ms: number): Promise<void> => void (sleeps.push(ms) === 3 && during());
  const clock: Clock = { now: Date.now, sleep };
  return { clock, total: () => sleeps.reduce((sum, ms) => sum + ms, 0) };
}

async function closedLedger(): Promise<string> {
  const path = testLedgerPath();
  await (await createBatchLedgerAtPath(path, batchOf(['a']), testBootId)).close();
  return path;
}

it('a run waits while a listing holds the lock for a moment', async () => {
  const path = await closedLedger();
  const listing = tryAcquireFileLock(buildBatchLedgerLockPath(path));
  const { clock, total } = sleeplessClock(() => listing?.release());
  const ledger = await openExistingBatchLedger(path, testBootId, clock);
  expect(total()).toBeLessThan(1000);
  await ledger.close();
});

it('a run that waited for 1 s is told that another process runs the batch', async () => {
  const path = await closedLedger();
  const other = tryAcquireFileLock(buildBatchLedgerLockPath(path));
  const { clock, total } = sleeplessClock();
  await expect(acquireBatchLedgerLock(path, clock)).rejects.toMatchObject({
    code: 'busy',
    detail: expect.stringContaining(`${path}.lock`),
  });
  expect(total()).toBe(1000);
  other?.release();
});

it('a ledger that is deleted during the wait is a missing one, and leaves no lock file', async () => {
  const path = await closedLedger();
  const other = tryAcquireFileLock(buildBatchLedgerLockPath(path));
  const { clock } = sleeplessClock(() => {
    rmSync(path);
    rmSync(`${path}.lock`);
    other?.release();
  });
  await expect(openExistingBatchLedger(path, testBootId, clock)).rejects.toMatchObject({ code: 'usage' });
  expect(existsSync(`${path}.lock`)).toBe(false);
});
