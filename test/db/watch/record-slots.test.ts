import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { pathOfRecord, readRecord, type WatchRecord, writeRecord } from '../../../src/db/watch/record.ts';
import { saveWatchedTarget, sourceAddress, updateRecordedSlots } from '../../../src/db/watch/source.ts';
import { settleRequest } from '../../../src/db/watch/start.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { holdWatchRecordLock } from './hold-watch-record-lock.ts';
import { makeStatusSample } from './view/status-samples.ts';

const source: DbSource = {
  engine: 'redis',
  source: {
    ...{ host: 'cache.example.com', port: 6379, username: 'mover', password: new Secret('hunter2'), db: undefined },
    ssl: 'disable',
  },
};
const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const record: WatchRecord = { engine: 'redis', source: 'cache.example.com:6379' };
const slots = [{ name: 'replica', database: '' }];
const poll = { sample: makeStatusSample(), idlePolls: 0, caughtUpPolls: 0, reached: true, activeSlots: slots };

function openFixture() {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const path = pathOfRecord(folders.state, sourceAddress(source));
  writeRecord(path, record);
  return { state: folders.state, path };
}

const started = { at: '2026-01-01T00:00:00.000Z', cluster, id: 'm-1', identity: {} };

it('a poll that records slots keeps the start that `db migrate` records at the same time', async () => {
  const { path } = openFixture();
  const migrate = await holdWatchRecordLock(path, { ...record, started });
  updateRecordedSlots(path, source, poll);
  await migrate.end();
  expect(readRecord(path)).toMatchObject({ started: { id: 'm-1' }, slots });
});

it('the target of `db cutover` keeps slots that a watch records at the same time', async () => {
  const { path } = openFixture();
  writeRecord(path, { ...record, started: { ...started, at: 0 } });
  const watch = await holdWatchRecordLock(path, { ...record, started, slots });
  saveWatchedTarget(path, cluster, 'redis://target');
  await watch.end();
  expect(readRecord(path)).toMatchObject({ target: 'redis://target', slots });
});

it('the start of a migration is not undone by a poll that read the record before', async () => {
  const { state, path } = openFixture();
  const watch = await holdWatchRecordLock(path, { ...record, slots });
  const sent = { at: 0, cluster, baseOrigin: 'https://api.example.com', source: sourceAddress(source) };
  const request = { ...sent, identity: {}, sourceOptions: [] };
  settleRequest(state, request, { at: 0, id: 'm-1' });
  await watch.end();
  expect(readRecord(path)?.started).toMatchObject({ id: 'm-1', cluster });
});
