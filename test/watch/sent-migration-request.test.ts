import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  findSentMigrationRequests,
  readSentMigrationRequest,
  type SentMigrationRequest,
  settleSentMigrationRequest,
  writeSentMigrationRequest,
} from '../../src/watch/sent-migration-request.ts';
import { getMigrationWatchRecordPath, readMigrationWatchRecord } from '../../src/watch/watch-record.ts';
import { makeFolders } from '../fixtures/folders.ts';

const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
const start: SentMigrationRequest = {
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
  writeSentMigrationRequest(state, start);
  expect(readSentMigrationRequest(state, start.baseOrigin, start.cluster)).toEqual(start);
  expect(findSentMigrationRequests(state, { ...source, host: 'DB.example.com' })).toEqual([start]);
  expect(readSentMigrationRequest(state, 'https://other.example.com', start.cluster)).toBeUndefined();
  expect(readSentMigrationRequest(state, start.baseOrigin, crypto.randomUUID())).toBeUndefined();
  expect(findSentMigrationRequests(state, { ...source, dbname: 'crm' })).toEqual([]);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  expect(statSync(join(state, 'migrations', file)).mode & 0o777).toBe(0o600);
});

it('a request that started a migration becomes the record of `db watch`', () => {
  const state = stateFolder();
  writeSentMigrationRequest(state, start);
  settleSentMigrationRequest(state, start, { id: 'm-1', at: start.at });
  expect(readSentMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
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
  writeSentMigrationRequest(state, start);
  settleSentMigrationRequest(state, start, { id: 'm-1', at: start.at });
  writeSentMigrationRequest(state, { ...start, at: start.at + 1000 });
  settleSentMigrationRequest(state, start, undefined);
  expect(readSentMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(readMigrationWatchRecord(getMigrationWatchRecordPath(state, source))?.started?.id).toBe('m-1');
});

it.each(['', '{', '[]', '{"version":1}', '{"version":2}'])('a damaged file, %j, counts as missing', (text) => {
  const state = stateFolder();
  writeSentMigrationRequest(state, start);
  const [file = ''] = readdirSync(join(state, 'migrations'));
  writeFileSync(join(state, 'migrations', file), text);
  expect(readSentMigrationRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
  expect(findSentMigrationRequests(state, source)).toEqual([]);
});
