import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import { loadBaseline, pathOfBaseline, storeBaseline } from '../../../src/db/watch/record.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

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
