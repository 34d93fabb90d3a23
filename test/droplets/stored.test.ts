import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLedgerAt, defaultPath, type Ledger } from '../../src/droplets/ledger.ts';
import { deleteOldLedgers, findLedger, listBatches } from '../../src/droplets/stored.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { batchOf, testMachine } from './batch-fixtures.ts';

const at = '2026-01-01T00:00:00.000Z';
const old = new Date('2020-01-01T00:00:00Z');
const now = Date.parse('2026-01-01T00:00:00Z');

function stateFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return folders.state;
}

/** A ledger of two names, `a` created, and `b` if `isFinished`. */
async function batchIn(folder: string, id: string, isFinished: boolean): Promise<Ledger> {
  const ledger = await createLedgerAt(defaultPath(folder, id), batchOf(['a', 'b'], { id }), testMachine);
  onTestFinished(() => ledger.close());
  ledger.record({ event: 'baseline', at, existing: {} });
  const rows = [{ name: 'a', id: '1' }, ...(isFinished ? [{ name: 'b', id: '2' }] : [])];
  ledger.record({ event: 'created', at, group: 1, rows });
  ledger.flush();
  return ledger;
}

it('lists ledgers of running, killed, finished, deleted and damaged batches', async () => {
  const folder = stateFolder();
  await batchIn(folder, 'running', false);
  await (await batchIn(folder, 'killed', false)).close();
  await (await batchIn(folder, 'finished', true)).close();
  const deleted = await batchIn(folder, 'deleted', true);
  deleted.record({
    event: 'deleted',
    at,
    rows: [
      { name: 'a', id: '1' },
      { name: 'b', id: '2' },
    ],
  });
  await deleted.close();
  writeFileSync(defaultPath(folder, 'damaged'), 'text\n');
  mkdirSync(defaultPath(folder, 'folder'));
  const states = Object.fromEntries(listBatches(folder).map(({ id, state }) => [id, state]));
  expect(states).toEqual({
    running: 'running',
    killed: 'unfinished',
    finished: 'finished',
    deleted: 'deleted',
    damaged: 'damaged',
  });
  expect(listBatches(folder).find(({ id }) => id === 'killed')).toMatchObject({
    names: 2,
    created: 1,
    missing: 1,
    profile: 'default',
    started: at,
    path: defaultPath(folder, 'killed'),
  });
});

it('lists nothing without a folder', () => {
  expect(listBatches(join(stateFolder(), 'none'))).toEqual([]);
});

it('leaves out a ledger that another process has deleted since the folder was read', async () => {
  const folder = stateFolder();
  const ledger = await batchIn(folder, 'gone', true);
  await ledger.close();
  expect(listBatches(folder)).toMatchObject([{ id: 'gone', state: 'finished' }]);
  deleteOldLedgers(folder, Date.now() + 60_000);
  expect(listBatches(folder)).toEqual([]);
});

it('does not change what it lists: an incomplete last line stays', async () => {
  const folder = stateFolder();
  const ledger = await batchIn(folder, 'torn', false);
  await ledger.close();
  writeFileSync(ledger.path, '{"event":', { flag: 'a' });
  expect(listBatches(folder)).toMatchObject([{ state: 'unfinished', created: 1 }]);
});

it('finds a ledger by id, by the id in its first line and by path', async () => {
  const folder = stateFolder();
  const ledger = await batchIn(folder, 'abc', true);
  expect(findLedger(folder, 'abc')).toBe(ledger.path);
  expect(findLedger(folder, ledger.path)).toBe(ledger.path);
  const shared = await createLedgerAt(
    defaultPath(folder, 'id-nightly-1'),
    batchOf(['a'], { id: 'nightly' }),
    testMachine,
  );
  onTestFinished(() => shared.close());
  expect(findLedger(folder, 'Nightly')).toBe(shared.path);
  for (const text of ['', 'other', '../abc', folder])
    expect(() => findLedger(folder, text)).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('finds a batch although a file of the current folder has its id, and a ledger through a symbolic link', async () => {
  const folder = stateFolder();
  // The tests run in the folder of the project.
  const ledger = await createLedgerAt(
    defaultPath(folder, 'id-license-1'),
    batchOf(['a'], { id: 'license' }),
    testMachine,
  );
  onTestFinished(() => ledger.close());
  expect(existsSync('LICENSE')).toBe(true);
  expect(findLedger(folder, 'LICENSE')).toBe(ledger.path);
  const link = join(folder, 'link.jsonl');
  symlinkSync(ledger.path, link);
  expect(findLedger(folder, link)).toBe(link);
});

it('prunes finished and deleted ledgers that are old, and no other', async () => {
  const folder = stateFolder();
  const age = (path: string): void => utimesSync(path, old, old);
  const closed = async (id: string, isFinished: boolean): Promise<string> => {
    const ledger = await batchIn(folder, id, isFinished);
    await ledger.close();
    return ledger.path;
  };
  const [finished, recent, unfinished] = [
    await closed('finished', true),
    await closed('recent', true),
    await closed('unfinished', false),
  ];
  const locked = await batchIn(folder, 'locked', true);
  const damaged = defaultPath(folder, 'damaged');
  writeFileSync(damaged, 'text\n');
  for (const path of [finished, unfinished, locked.path, damaged]) age(path);
  deleteOldLedgers(folder, now);
  expect([finished, recent, unfinished, locked.path, damaged].map((path) => existsSync(path))).toEqual([
    ...[false, true, true, true, true],
  ]);
  expect(existsSync(`${finished}.lock`)).toBe(false);
});
