import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  formatSourceName,
  knownStart,
  pathOfRecord,
  readRecord,
  type WatchRecord,
  writeRecord,
} from '../../../src/db/watch/record.ts';
import { makeFolders } from '../../fixtures/folders.ts';

const source = { engine: 'postgresql', host: 'DB.example.com', port: 5432, dbname: 'shop' } as const;
const record: WatchRecord = {
  engine: 'postgresql',
  source: 'db.example.com:5432/shop',
  started: {
    at: Date.parse('2026-11-20T12:00:00Z'),
    cluster: 'c',
    id: 'm',
    identity: { baseOrigin: 'https://api.example.com', accountUuid: 'u', team: 'personal' },
  },
  firstSeen: Date.parse('2026-11-20T12:05:00Z'),
  before: ['cdc'],
  slots: [{ name: 's', database: 'shop' }],
  warned: ['ext-tables'],
  sourceOptions: ['--source', 'postgres://mover@db.example.com:5432/shop', '--disable-ssl'],
  target: 'postgres://admin@cluster.example.com:25061/defaultdb',
};

function path(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return pathOfRecord(folders.state, source);
}

it('what is written is read again, and only its owner may', () => {
  const file = path();
  writeRecord(file, record);
  expect(readRecord(file)).toEqual(record);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(basename(dirname(file))).toBe('migrations');
});

it('the name of the file tells nothing, and a source has one whatever the case of its host', () => {
  const one = pathOfRecord('/s', source);
  expect(basename(one)).toMatch(/^[0-9a-f]{32}\.json$/);
  expect(pathOfRecord('/s', { ...source, host: 'db.EXAMPLE.com' })).toBe(one);
  for (const other of [{ port: 5433 }, { dbname: 'crm' }, { engine: 'redis' as const }]) {
    expect(pathOfRecord('/s', { ...source, ...other })).not.toBe(one);
  }
  expect(formatSourceName({ engine: 'redis', host: '::1', port: 6379 })).toBe('[::1]:6379');
});

it.each(['', '{', '[]', '{"version":2,"engine":"redis","source":"x"}', '{"version":1,"engine":"mysql","source":"x"}'])(
  'a file that is none, %j, is as good as none',
  (text) => {
    const file = path();
    writeRecord(file, record);
    writeFileSync(file, text);
    expect(readRecord(file)).toBeUndefined();
  },
);

it('an unreadable record counts as missing', () => {
  const file = path();
  // As root every file can be read; a folder in its place cannot by anybody.
  mkdirSync(file, { recursive: true });
  expect(readRecord(file)).toBeUndefined();
});

it('damaged parts of a record are left out', () => {
  const file = path();
  writeRecord(file, record);
  const json = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(
    file,
    JSON.stringify({ ...json, started: { at: 'soon' }, slots: [1, { name: 's' }], before: [1, 'a'] }),
  );
  expect(readRecord(file)).toMatchObject({ slots: [], before: ['a'], firstSeen: record.firstSeen });
  expect(readRecord(file)).not.toHaveProperty('started');
});

it('the two weeks run from the start that was accepted, else from the first sighting', () => {
  const begun = record.started!.at;
  expect(knownStart(record, begun)).toEqual({ startedAt: begun, from: 'migrate' });
  const { started: _started, ...seen } = record;
  expect(knownStart(seen, begun)).toEqual({ startedAt: record.firstSeen, from: 'first_sighting' });
  expect(knownStart({}, begun)).toBeUndefined();
  // A month later it is another migration.
  expect(knownStart(record, begun + 30 * 86_400_000)?.from).toBe('first_sighting');
});
