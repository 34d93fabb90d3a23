import { existsSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { changeRecord, pathOfRecord, readRecord, type WatchRecord, writeRecord } from '../../../src/db/watch/record.ts';

import { tryAcquireFileLock } from '../../../src/platform/locks.ts';
import { makeFolders } from '../../fixtures/folders.ts';

const empty: WatchRecord = { engine: 'redis', source: 'cache.example.com:6379' };
const started = { at: Date.parse('2026-01-01T00:00:00Z'), cluster: 'c', id: 'm-1', identity: {} };

function recordPath(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return pathOfRecord(folders.state, { engine: 'redis', host: 'cache.example.com', port: 6379 });
}

it('a change is made to the record that is read under the lock', () => {
  const path = recordPath();
  const seen: unknown[] = [];
  const isChanged = changeRecord(path, (record) => {
    seen.push(record?.started?.id);
    // Another process replaces the record between the first read and the lock.
    if (seen.length === 1) writeRecord(path, { ...empty, started });
    else expect(tryAcquireFileLock(`${path}.lock`)).toBeUndefined();
    return { ...(record ?? empty), target: 'redis://target' };
  });
  expect([isChanged, seen]).toEqual([true, [undefined, 'm-1']]);
  expect(readRecord(path)).toEqual({ ...empty, started, target: 'redis://target' });
  expect(tryAcquireFileLock(`${path}.lock`)).toBeDefined();
});

it('a record that another process keeps locked is not changed', () => {
  const path = recordPath();
  const other = tryAcquireFileLock(`${path}.lock`);
  expect(changeRecord(path, () => empty)).toBe(false);
  expect(readRecord(path)).toBeUndefined();
  other?.release();
});

it('a record that needs no change is not locked', () => {
  const path = recordPath();
  expect(changeRecord(path, () => undefined)).toBe(true);
  expect(existsSync(`${path}.lock`)).toBe(false);
});
