import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  findUnconfirmedMigrationRequests,
  readUnconfirmedMigrationRequest,
  settleUnconfirmedMigrationRequest,
  type UnconfirmedMigrationRequest,
  writeUnconfirmedMigrationRequest,
} from '../../src/watch/unconfirmed-migration-request.ts';
import { getMigrationWatchRecordPath, readMigrationWatchRecord } from '../../src/watch/watch-record.ts';
import { makeFolders } from '../fixtures/folders.ts';

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

it('a request that started none leaves the record of an earlier migration', () => {
  const state = stateFolder();
  writeUnconfirmedMigrationRequest(state, start);
  settleUnconfirmedMigrationRequest(state, start, { id: 'm-1', at: start.at });
  writeUnconfirmedMigrationRequest(state, { ...start, at: start.at + 1000 });
  settleUnconfirmedMigrationRequest(state, start, undefined);
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
