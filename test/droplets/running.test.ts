import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Droplet } from '../../src/api/droplets.ts';
import type { Batch } from '../../src/droplets/events.ts';
import { createLedgerAt, type Ledger, openLedger, readLedger } from '../../src/droplets/ledger.ts';
import { type Entry, noOthers, noteDeleted, register } from '../../src/droplets/running.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { batchOf, fastClock } from './batch-fixtures.ts';

const { signal } = new AbortController();

/** A machine on which runs begin; each has a ledger of its own. */
function machine() {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const clock = fastClock(100);
  const host = { clock, folders };
  const folder = join(folders.state, 'batches', 'running');
  let runs = 0;
  const begin = async (names: readonly string[], changes: Partial<Batch> = {}) => {
    runs += 1;
    const path = join(folders.state, 'batches', `b${runs}.jsonl`);
    const ledger = await createLedgerAt(path, batchOf(names, { id: `b${runs}`, if_exists: 'skip', ...changes }), host);
    const entry = await register(host, ledger);
    const settle = (maxWait = 900_000) => entry.settleOthers({ maxWait, signal, onWaiting: async () => {} });
    return { ledger, entry, settle };
  };
  /** The process of the run is gone: its entry stays, and nobody holds its lock. */
  const kill = async ({ entry, ledger }: { readonly entry: Entry; readonly ledger: Ledger }) => {
    const [path = ''] = entries(folder).filter((one) => readFileSync(one, 'utf8').includes(ledger.path));
    const text = readFileSync(path, 'utf8');
    await entry.end(ledger.state);
    writeFileSync(path, text);
    await ledger.close();
  };
  return { begin, kill, clock, folder, host };
}

function entries(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name));
}

function created(ledger: Ledger, group: number, rows: Readonly<Record<string, string>>): void {
  const names = Object.keys(rows);
  ledger.record({ event: 'sending', group, names });
  ledger.record({ event: 'created', group, rows: names.map((name) => ({ name, id: rows[name] ?? '' })) });
}

describe('a run with the names of another that still runs', () => {
  it('is busy at once with --if-exists fail, and says which run', async () => {
    const { begin } = machine();
    const first = await begin(['a', 'b']);
    const second = await begin(['b', 'c'], { if_exists: 'fail' });
    await expect(second.settle()).rejects.toMatchObject({
      code: 'busy',
      detail: expect.stringContaining(first.ledger.path),
    });
  });

  it('waits for it with skip, and then knows what it created', async () => {
    const { begin } = machine();
    const first = await begin(['a', 'b']);
    const second = await begin(['b', 'c']);
    const settled = second.settle();
    created(first.ledger, 1, { a: '1', b: '2' });
    await first.entry.end(first.ledger.state);
    expect(await settled).toEqual({ created: new Map([['b', ['2']]]), uncertain: new Map() });
  });

  it('is busy after --max-wait', async () => {
    const { begin } = machine();
    await begin(['a']);
    const second = await begin(['a']);
    await expect(second.settle(2_000)).rejects.toMatchObject({ code: 'busy' });
  });

  it('stays parallel with create, and does not look at others', async () => {
    const { begin } = machine();
    const first = await begin(['a']);
    created(first.ledger, 1, { a: '1' });
    expect(await (await begin(['a'], { if_exists: 'create' })).settle()).toEqual(noOthers);
  });

  it('waits only for earlier ones', async () => {
    const { begin } = machine();
    const first = await begin(['a']);
    await begin(['a'], { if_exists: 'create' });
    expect(await first.settle()).toEqual(noOthers);
  });

  it.each<[string, Partial<Batch>, Partial<Batch>]>([
    ['other names', {}, {}],
    ['another server', {}, { base_url: 'https://other.example' }],
    ['another account', { account: 'one' }, { account: 'two' }],
    ['another team', { account: 'one', team: 'x' }, { account: 'one', team: 'y' }],
  ])('does not wait for a run with %s', async (what, one, other) => {
    const { begin } = machine();
    await begin(['a'], one);
    expect(await (await begin([what === 'other names' ? 'b' : 'a'], other)).settle()).toEqual(noOthers);
  });

  it('an account that is not known may be the same', async () => {
    const { begin } = machine();
    await begin(['a'], { account: 'one', team: 'x' });
    await expect((await begin(['a'], { if_exists: 'fail' })).settle()).rejects.toMatchObject({ code: 'busy' });
  });
});

describe('a run that was killed', () => {
  it('leaves its ledger: created droplets, and the time of requests without a response', async () => {
    const { begin, kill, clock } = machine();
    const first = await begin(['a', 'b', 'c']);
    created(first.ledger, 1, { a: '1' });
    first.ledger.record({ event: 'sending', group: 2, names: ['b'] });
    await kill(first);
    const { created: known, uncertain } = await (await begin(['a', 'b', 'c'])).settle();
    expect(known).toEqual(new Map([['a', ['1']]]));
    expect([...uncertain.keys()]).toEqual(['b']);
    expect(uncertain.get('b')).toBeLessThanOrEqual(clock.now());
  });

  it('is read with --if-exists fail, too', async () => {
    const { begin, kill } = machine();
    const first = await begin(['a']);
    created(first.ledger, 1, { a: '1' });
    await kill(first);
    expect((await (await begin(['a'], { if_exists: 'fail' })).settle()).created.get('a')).toEqual(['1']);
  });

  it('is forgotten ten minutes after its last request, and its entry is deleted', async () => {
    const { begin, kill, clock, folder } = machine();
    const first = await begin(['a']);
    first.ledger.record({ event: 'sending', group: 1, names: ['a'] });
    await kill(first);
    clock.advance(601_000);
    const second = await begin(['a']);
    expect(await second.settle()).toEqual(noOthers);
    expect(entries(folder)).toHaveLength(1);
  });
});

describe('a run that has ended', () => {
  it('leaves names and ids for ten minutes, also when its ledger is gone', async () => {
    const { begin, clock } = machine();
    const first = await begin(['a']);
    created(first.ledger, 1, { a: '7' });
    await first.entry.end(first.ledger.state);
    await first.ledger.discard();
    expect((await (await begin(['a'])).settle()).created).toEqual(new Map([['a', ['7']]]));
    clock.advance(601_000);
    const third = await begin(['b']);
    expect(existsSync(third.ledger.path)).toBe(true);
  });

  it('and whose droplets were deleted since keeps their ids as gone, and those of another server as they are', async () => {
    const { begin, kill, host } = machine();
    const first = await begin(['a', 'b']);
    created(first.ledger, 1, { a: '1', b: '2' });
    await first.entry.end(first.ledger.state);
    const killed = await begin(['a']);
    created(killed.ledger, 1, { a: '3' });
    await kill(killed);
    await noteDeleted(host, 'https://other.example', new Set(['1']));
    const unaware = await begin(['a']);
    expect(await unaware.settle()).not.toHaveProperty('gone');
    await unaware.entry.end(unaware.ledger.state);
    await noteDeleted(host, 'https://api.example', new Set(['1', '3', '9']));
    const others = await (await begin(['a', 'b'])).settle();
    expect(others.created).toEqual(
      new Map([
        ['a', ['1', '3']],
        ['b', ['2']],
      ]),
    );
    expect(others.gone).toEqual(new Set(['1', '3']));
  });

  it('of the same --batch-id is known, too: lists may lag, and its ledger may be another one', async () => {
    const { begin } = machine();
    const tagged = { id: 'x', content_hash: 'c0ffee000000' };
    const first = await begin(['a'], tagged);
    created(first.ledger, 1, { a: '7' });
    await first.entry.end(first.ledger.state);
    expect((await (await begin(['a'], tagged)).settle()).created).toEqual(new Map([['a', ['7']]]));
  });
});

describe('the ledger of a run that was killed', () => {
  it('and deleted says nothing, so all its names are uncertain', async () => {
    const { begin, kill } = machine();
    const first = await begin(['a', 'b']);
    await kill(first);
    rmSync(first.ledger.path);
    expect([...(await (await begin(['a', 'c'])).settle()).uncertain.keys()]).toEqual(['a']);
  });

  it('and replaced by the next run of its --batch-id is kept in its entry', async () => {
    const { begin, kill, host } = machine();
    const first = await begin(['a', 'b']);
    created(first.ledger, 1, { a: '1' });
    first.ledger.record({ event: 'sending', group: 2, names: ['b'] });
    await kill(first);
    const replaced = first.ledger.state;
    rmSync(first.ledger.path);
    const batch = batchOf(['a', 'b'], { id: 'b1', if_exists: 'skip', at: '2026-01-02T00:00:00.000Z' });
    const ledger = await createLedgerAt(first.ledger.path, batch, host);
    const second = await register(host, { ...ledger, replaced });
    const known = await second.settleOthers({ maxWait: 900_000, signal, onWaiting: async () => {} });
    await second.end(ledger.state);
    for (const others of [known, await (await begin(['a', 'b'])).settle()]) {
      expect(others.created).toEqual(new Map([['a', ['1']]]));
      expect([...others.uncertain.keys()]).toEqual(['b']);
    }
  });
});

it('a live run whose entry was removed may create any name', async () => {
  const { begin, folder } = machine();
  await begin(['a']);
  rmSync(join(folder, '1.json'));
  await expect((await begin(['b'], { if_exists: 'fail' })).settle()).rejects.toMatchObject({ code: 'busy' });
});

it('one server under two addresses is one, if the account is known', async () => {
  const { begin } = machine();
  const account = { account: 'one', team: 'x' };
  await begin(['a'], account);
  const other = await begin(['a'], { ...account, if_exists: 'fail', base_url: 'http://localhost:1' });
  await expect(other.settle()).rejects.toMatchObject({ code: 'busy' });
});

it('an entry that cannot be read says nothing', async () => {
  const { begin, folder } = machine();
  const first = await begin(['a']);
  created(first.ledger, 1, { a: '7' });
  await first.entry.end(first.ledger.state);
  for (const text of [
    '',
    '{',
    'null',
    '{"ledger":1}',
    '{"ledger":"x","baseUrl":"y","ifExists":"skip","started":1,"ended":{"created":[[1]]}}',
  ]) {
    writeFileSync(join(folder, '1.json'), text);
    expect(await (await begin(['a'])).settle(0).catch((error: unknown) => error)).not.toMatchObject({
      created: { size: 1 },
    });
  }
});

it('a result that cannot be written is no error: the ledger stays', async () => {
  const { begin, folder } = machine();
  const { entry, ledger } = await begin(['a']);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  expect(await entry.end(ledger.state)).toBe(false);
});

describe('names that a killed run may have sent', () => {
  const droplet = (name: string, id: string, size = 's'): Droplet => ({
    id,
    name,
    raw: { name, size_slug: size, created_at: '2026-01-01T00:00:01Z' },
  });

  it.each([
    ['found', [droplet('a', '7')], false, { created: 1, failed: 0, unknown: 1 }],
    ['absent', [], true, { created: 0, failed: 1, unknown: 1 }],
    ['found twice', [droplet('a', '7'), droplet('a', '8')], false, { created: 0, failed: 0, unknown: 2 }],
    ['found with another size', [droplet('a', '7', 'large')], false, { created: 0, failed: 0, unknown: 2 }],
  ] as const)('are settled in its ledger: %s', async (_, droplets, isAbsent, counts) => {
    const { begin, kill } = machine();
    const first = await begin(['a', 'b']);
    await first.ledger.commit({ event: 'baseline', existing: {} });
    await first.ledger.commit({ event: 'sending', group: 1, names: ['a', 'b'] });
    await kill(first);
    const second = await begin(['a']);
    expect((await second.settle()).uncertain.size).toBe(1);
    await second.entry.settleNames(new Map([['a', { droplets, isAbsent }]]));
    const { state } = readLedger(first.ledger.path);
    expect(state.counts()).toMatchObject(counts);
    // What is left keeps the time of its request, which decides whose a droplet is.
    expect(state.uncertainGroups().map(({ names, sentAt }) => [names, sentAt !== undefined])).toEqual([
      [counts.unknown === 1 ? ['b'] : ['a', 'b'], true],
    ]);
    expect([...(await second.settle()).uncertain.keys()]).toEqual(counts.unknown === 1 ? [] : ['a']);
  });

  it('stay in doubt while another process holds its ledger', async () => {
    const { begin, kill, host } = machine();
    const first = await begin(['a']);
    await first.ledger.commit({ event: 'sending', group: 1, names: ['a'] });
    await kill(first);
    const held = await openLedger(first.ledger.path, host);
    const second = await begin(['a']);
    await second.entry.settleNames(new Map([['a', { droplets: [], isAbsent: true }]]));
    await held.close();
    expect(readLedger(first.ledger.path).state.counts()).toMatchObject({ unknown: 1 });
    expect((await second.settle()).uncertain.size).toBe(1);
  });

  it('are settled although its ledger was deleted', async () => {
    const { begin, kill } = machine();
    const first = await begin(['a']);
    await first.ledger.commit({ event: 'sending', group: 1, names: ['a'] });
    await kill(first);
    rmSync(first.ledger.path);
    const second = await begin(['a']);
    await second.entry.settleNames(new Map([['a', { droplets: [], isAbsent: true }]]));
    expect(await second.settle()).toEqual(noOthers);
  });
});
