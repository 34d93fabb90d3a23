import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { waitForFileLock } from '../../../src/db/watch/record.ts';
import { tryAcquireFileLock } from '../../../src/platform/locks.ts';
import { makeFolders } from '../../fixtures/folders.ts';

it('a lock is held by one process at a time, and the wait for it ends', () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const path = join(folders.state, 'migrations', 'a.lock');
  const first = waitForFileLock(path);
  const startedAt = performance.now();
  expect(waitForFileLock(path, 50)).toBeUndefined();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(45);
  first?.release();
  const second = waitForFileLock(path, 0);
  expect(second).toBeDefined();
  expect(tryAcquireFileLock(path)).toBeUndefined();
  second?.release();
});
