import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBaseline, type SourceBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import { loadBaseline, pathOfBaseline, pathOfRecord, readRecord, storeBaseline } from '../../../src/db/watch/record.ts';
import {
  findRequests,
  lockRequest,
  readInterrupted,
  readRequest,
  settleRequest,
  type UnconfirmedRequest,
  writeRequest,
} from '../../../src/db/watch/start.ts';

import { makeFolders } from '../../fixtures/folders.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
const start: UnconfirmedRequest = {
  at: Date.parse('2026-11-20T12:00:00Z'),
  cluster: '3b643ad7-65aa-4066-b45b-1c64b6db600a',
  baseOrigin: 'https://api.example.com',
  source,
  identity: { accountUuid: 'u', team: 'personal' },
  before: ['cdc'],
  warned: ['ext-tables'],
  sourceOptions: ['--source', 'postgres://mover@db.example.com:5432/shop', '--disable-ssl'],
};
const later: UnconfirmedRequest = { ...start, at: start.at + 1000 };
const baseline = createBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

function stateFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return folders.state;
}

it('a request is read again by its server and cluster, or by its server and source', () => {
  const state = stateFolder();
  writeRequest(state, start);
  expect(readRequest(state, start.baseOrigin, start.cluster)).toEqual(start);
  expect(findRequests(state, { ...source, host: 'DB.example.com' })).toEqual([start]);
  expect(readRequest(state, 'https://other.example.com', start.cluster)).toBeUndefined();
  expect(readRequest(state, start.baseOrigin, crypto.randomUUID())).toBeUndefined();
  expect(findRequests(state, { ...source, dbname: 'crm' })).toEqual([]);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  expect(statSync(join(state, 'migrations', file)).mode & 0o777).toBe(0o600);
});

it('a request that started a migration becomes the record of `db watch`', () => {
  const state = stateFolder();
  writeRequest(state, start);
  settleRequest(state, start, { id: 'm-1', at: start.at });
  expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(readRecord(pathOfRecord(state, source))).toEqual({
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
  writeRequest(state, later);
  settleRequest(state, start, undefined);
  expect(readRequest(state, start.baseOrigin, start.cluster)).toEqual(later);
});

it('a request counts as interrupted when its sender has released the lock', () => {
  const state = stateFolder();
  writeRequest(state, start);
  const sender = lockRequest(state, start);
  expect(readInterrupted(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(findRequests(state, source)).toEqual([]);
  sender?.release();
  expect(readInterrupted(state, start.baseOrigin, start.cluster)).toEqual(start);
  expect(findRequests(state, source)).toEqual([start]);
});

describe('the baseline file', () => {
  const earlier = { ...baseline, at: baseline.at - 60_000 };

  it.each<[string, UnconfirmedRequest, boolean, SourceBaseline | undefined]>([
    ['is that of the request that started a migration', { ...start, baseline }, true, baseline],
    ['stays when the request started none', { ...start, baseline }, false, earlier],
    ['is removed by a start whose source could not be read', { ...start, baseline: null }, true, undefined],
    ['stays when a request without a baseline started a migration', start, true, earlier],
  ])('%s', (_what, request, isStarted, expected) => {
    const state = stateFolder();
    const path = pathOfBaseline(state, source, start.cluster);
    storeBaseline(path, earlier);
    writeRequest(state, request);
    expect(loadBaseline(path)).toEqual(earlier);
    const stored = readRequest(state, start.baseOrigin, start.cluster);
    expect(stored).toEqual(request);
    settleRequest(state, stored!, isStarted ? { id: 'm-1', at: start.at } : undefined);
    expect(loadBaseline(path)).toEqual(expected);
    expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  });

  it('that cannot be written does not prevent the record of the start', () => {
    const state = stateFolder();
    const path = pathOfBaseline(state, source, start.cluster);
    mkdirSync(path, { recursive: true });
    writeRequest(state, { ...start, baseline });
    const settle = () => settleRequest(state, { ...start, baseline }, { id: 'm-1', at: start.at });
    expect(settle).toThrow();
    expect(readRecord(pathOfRecord(state, source))?.started?.id).toBe('m-1');
    expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  });
});

it('a request that started none leaves the record of an earlier migration', () => {
  const state = stateFolder();
  writeRequest(state, start);
  settleRequest(state, start, { id: 'm-1', at: start.at });
  writeRequest(state, later);
  settleRequest(state, later, undefined);
  expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(readRecord(pathOfRecord(state, source))?.started?.id).toBe('m-1');
});

it.each(['', '{', '[]', '{"version":1}', '{"version":2}'])('a damaged file, %j, counts as missing', (text) => {
  const state = stateFolder();
  writeRequest(state, start);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  writeFileSync(join(state, 'migrations', file), text);
  expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(findRequests(state, source)).toEqual([]);
});
