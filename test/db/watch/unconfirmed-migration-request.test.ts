import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  readWatchedSourceBaselineFile,
  watchedSourceBaselinePath,
  writeWatchedSourceBaselineFile,
} from '../../../src/db/watch/baseline-file.ts';
import {
  createWatchedSourceBaseline,
  type WatchedSourceBaseline,
} from '../../../src/db/watch/postgresql/watched-source-baseline.ts';
import {
  findUnconfirmedMigrationRequests,
  lockUnconfirmedMigrationRequest,
  readInterruptedMigrationRequest,
  readUnconfirmedMigrationRequest,
  settleUnconfirmedMigrationRequest,
  type UnconfirmedMigrationRequest,
  writeUnconfirmedMigrationRequest,
} from '../../../src/db/watch/unconfirmed-migration-request.ts';
import { getMigrationWatchRecordPath, readMigrationWatchRecord } from '../../../src/db/watch/watch-record.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
const start: UnconfirmedMigrationRequest = {
  at: Date.parse('2026-11-20T12:00:00Z'),
  cluster: '3b643ad7-65aa-4066-b45b-1c64b6db600a',
  baseOrigin: 'https://api.example.com',
  source,
  identity: { accountUuid: 'u', team: 'personal' },
  before: ['cdc'],
  warned: ['ext-tables'],
  sourceOptions: ['--source', 'postgres://mover@db.example.com:5432/shop', '--disable-ssl'],
};
const later: UnconfirmedMigrationRequest = { ...start, at: start.at + 1000 };
const baseline = createWatchedSourceBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

function stateFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return folders.state;
}

it('a request is read again by its server and cluster, or by its server and source', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toEqual(start);
  expect(findUnconfirmedMigrationRequests(state, { ...source, host: 'DB.example.com' })).toEqual([start]);
  expect(readUnconfirmedMigrationRequest(state, 'https://other.example.com', start.cluster)).toBeUndefined();
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, crypto.randomUUID())).toBeUndefined();
  expect(findUnconfirmedMigrationRequests(state, { ...source, dbname: 'crm' })).toEqual([]);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  expect(statSync(join(state, 'migrations', file)).mode & 0o777).toBe(0o600);
});

it('a request that started a migration becomes the record of `db watch`', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  settleUnconfirmedMigrationRequest(state, start, { id: 'm-1', at: start.at });
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(readMigrationWatchRecord(getMigrationWatchRecordPath(state, source))).toEqual({
    engine: 'postgresql',
    source: 'db.example.com:5432/shop',
    started: { at: start.at, cluster: start.cluster, id: 'm-1', identity: start.identity },
    before: ['cdc'],
    warned: ['ext-tables'],
    sourceOptions: start.sourceOptions,
  });
});

it('a request that was sent later is not removed with an earlier one', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, later);
  settleUnconfirmedMigrationRequest(state, start, undefined);
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toEqual(later);
});

it('a request counts as interrupted when its sender has released the lock', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  const sender = lockUnconfirmedMigrationRequest(state, start);
  expect(readInterruptedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(findUnconfirmedMigrationRequests(state, source)).toEqual([]);
  sender?.release();
  expect(readInterruptedMigrationRequest(state, start.baseOrigin, start.cluster)).toEqual(start);
  expect(findUnconfirmedMigrationRequests(state, source)).toEqual([start]);
});

describe('the baseline file', () => {
  const earlier = { ...baseline, at: baseline.at - 60_000 };

  it.each<[string, UnconfirmedMigrationRequest, boolean, WatchedSourceBaseline | undefined]>([
    ['is that of the request that started a migration', { ...start, baseline }, true, baseline],
    ['stays when the request started none', { ...start, baseline }, false, earlier],
    ['is removed by a start whose source could not be read', { ...start, baseline: null }, true, undefined],
    ['stays when a request without a baseline started a migration', start, true, earlier],
  ])('%s', (_what, request, isStarted, expected) => {
    const state = stateFolder();
    const path = watchedSourceBaselinePath(state, source, start.cluster);
    writeWatchedSourceBaselineFile(path, earlier);
    writeUnconfirmedMigrationRequest(state, request);
    expect(readWatchedSourceBaselineFile(path)).toEqual(earlier);
    const stored = readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster);
    expect(stored).toEqual(request);
    settleUnconfirmedMigrationRequest(state, stored!, isStarted ? { id: 'm-1', at: start.at } : undefined);
    expect(readWatchedSourceBaselineFile(path)).toEqual(expected);
    expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  });

  it('that cannot be written does not prevent the record of the start', () => {
    const state = stateFolder();
    const path = watchedSourceBaselinePath(state, source, start.cluster);
    mkdirSync(path, { recursive: true });
    writeUnconfirmedMigrationRequest(state, { ...start, baseline });
    const settle = () => settleUnconfirmedMigrationRequest(state, { ...start, baseline }, { id: 'm-1', at: start.at });
    expect(settle).toThrow();
    expect(readMigrationWatchRecord(getMigrationWatchRecordPath(state, source))?.started?.id).toBe('m-1');
    expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  });
});

it('a request that started none leaves the record of an earlier migration', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  settleUnconfirmedMigrationRequest(state, start, { id: 'm-1', at: start.at });
  writeUnconfirmedMigrationRequest(state, later);
  settleUnconfirmedMigrationRequest(state, later, undefined);
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(readMigrationWatchRecord(getMigrationWatchRecordPath(state, source))?.started?.id).toBe('m-1');
});

it.each(['', '{', '[]', '{"version":1}', '{"version":2}'])('a damaged file, %j, counts as missing', (text) => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  writeFileSync(join(state, 'migrations', file), text);
  expect(readUnconfirmedMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(findUnconfirmedMigrationRequests(state, source)).toEqual([]);
});
