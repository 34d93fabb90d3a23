import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import {
  changeRecord,
  formatSourceName,
  knownStart,
  listStarted,
  loadBaseline,
  pathOfBaseline,
  pathOfRecord,
  readRecord,
  storeBaseline,
  type WatchRecord,
  waitForFileLock,
  writeRecord,
} from '../../../src/db/watch/record.ts';
import { tryAcquire } from '../../../src/platform/locks.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { testHost } from '../../fixtures/host.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

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
    else expect(tryAcquire(`${path}.lock`)).toBeUndefined();
    return { ...(record ?? empty), target: 'redis://target' };
  });
  expect([isChanged, seen]).toEqual([true, [undefined, 'm-1']]);
  expect(readRecord(path)).toEqual({ ...empty, started, target: 'redis://target' });
  expect(tryAcquire(`${path}.lock`)).toBeDefined();
});

it('a record that another process keeps locked is not changed', () => {
  const path = recordPath();
  const other = tryAcquire(`${path}.lock`);
  expect(changeRecord(path, () => empty)).toBe(false);
  expect(readRecord(path)).toBeUndefined();
  other?.release();
});

it('a record that needs no change is not locked', () => {
  const path = recordPath();
  expect(changeRecord(path, () => undefined)).toBe(true);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

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
  expect(tryAcquire(path)).toBeUndefined();
  second?.release();
});

it('lists what this machine started, the latest first, and nothing else', () => {
  const { state } = testHost().folders;
  expect(listStarted(state)).toEqual([]);
  const add = (host: string, at?: number): void =>
    writeRecord(pathOfRecord(state, { engine: 'redis', host, port: 1 }), {
      engine: 'redis',
      source: `${host}:1`,
      ...(at === undefined ? {} : { started: { at, cluster: `c-${host}`, id: host, identity: {} } }),
    });
  add('old', 1000);
  add('new', 2000);
  add('only-watched');
  for (const name of ['sent-1.json', `${'a'.repeat(32)}.json`]) writeFileSync(join(state, 'migrations', name), '{');
  expect(listStarted(state).map(({ started }) => started.cluster)).toEqual(['c-new', 'c-old']);
});

describe('records', () => {
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

  it.each([
    '',
    '{',
    '[]',
    '{"version":2,"engine":"redis","source":"x"}',
    '{"version":1,"engine":"mysql","source":"x"}',
  ])('a file that is none, %j, is as good as none', (text) => {
    const file = path();
    writeRecord(file, record);
    writeFileSync(file, text);
    expect(readRecord(file)).toBeUndefined();
  });

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
});

describe('the baseline', () => {
  const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
  const shape = {
    schema: 'public',
    table: 't',
    columns: '1',
    identity: 'd',
    keyColumns: ['id'],
    hasReplicaIdentity: true,
  };
  const baseline = createBaseline(makeServerFacts(), [
    makeDatabaseFacts({
      shapes: new Map([['public.t', shape]]),
      columns: new Map([['public.t', [{ name: 'id', type: 'integer', notNull: true }]]]),
    }),
  ]);

  function makePath(): string {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    return pathOfBaseline(folders.state, source, 'c1');
  }

  it('a baseline is read as it was written, by its owner alone, and belongs to one cluster and source', () => {
    const path = makePath();
    storeBaseline(path, baseline);
    expect(loadBaseline(path)).toEqual(baseline);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(pathOfBaseline('/s', source, 'c1')).not.toBe(pathOfBaseline('/s', source, 'c2'));
    expect(pathOfBaseline('/s', source, 'c1')).not.toBe(pathOfBaseline('/s', { ...source, dbname: 'x' }, 'c1'));
    storeBaseline(path, undefined);
    expect(loadBaseline(path)).toBeUndefined();
    storeBaseline(path, undefined);
  });

  it('damaged files are no baseline, and damaged members are left out', () => {
    const path = makePath();
    storeBaseline(path, baseline);
    const good = JSON.parse(readFileSync(path, 'utf8'));
    for (const bad of [
      '',
      'null',
      '[]',
      '{}',
      '[[',
      JSON.stringify({ ...good, version: 2 }),
      JSON.stringify({ ...good, at: 'x' }),
    ]) {
      writeFileSync(path, bad);
      expect(loadBaseline(path)).toBeUndefined();
    }
    const [database] = good.databases;
    const tables = [
      null,
      1,
      {},
      { ...shape, schema: '' },
      { ...shape, keyColumns: ['', 3, 'id'], columnShapes: [1, ['a'], ['id', 'integer', 'x']] },
    ];
    const hostile = {
      ...good,
      settings: { a: 1, wal_level: 'logical' },
      role: [],
      host_rules: 'x',
      databases: [1, {}, { ...database, tables }],
    };
    writeFileSync(path, JSON.stringify(hostile));
    const read = loadBaseline(path);
    expect(read).toMatchObject({
      settings: new Map([['wal_level', 'logical']]),
      role: undefined,
      hbaRuleLines: undefined,
    });
    expect([...(read?.databases.get('shop')?.tables ?? [])]).toEqual([
      ['public.t', { ...shape, written: 0, columnShapes: [{ name: 'id', type: 'integer', notNull: false }] }],
    ]);
  });
});
