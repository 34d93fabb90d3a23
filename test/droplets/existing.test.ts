import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiRequest } from '../../src/api/client.ts';
import { encodeEvent } from '../../src/droplets/events.ts';
import { recordDuplicates, recordExisting } from '../../src/droplets/existing.ts';
import { createLedgerAt, type Ledger, replaceLedger } from '../../src/droplets/ledger.ts';
import { deriveBatch } from '../../src/droplets/match.ts';
import { noOthers, type Others } from '../../src/droplets/running.ts';
import type { Clock } from '../../src/platform/host.ts';
import {
  apiOf,
  batchOf,
  batchResponse,
  instantClock,
  ledgerFor,
  testLedgerPath,
  testMachine,
  testRun,
} from './batch-fixtures.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const quiet = { onAdopted: async () => {}, onDoubt: async () => {}, onProven: async () => {} };

describe('record existing droplets', () => {
  const names = ['a', 'b', 'c'];
  /** Ids and names, as GET answers with them. */
  const both = [
    { id: '7', name: 'b' },
    { id: '8', name: 'z' },
  ];

  async function setup(list: (request: ApiRequest, at: number) => ApiResponse) {
    const ledger = await ledgerFor(batchOf(names, { if_exists: 'skip' }));
    const api = apiOf(() => batchResponse(500), list);
    return {
      api,
      take: async () => {
        await recordExisting(testRun(ledger, api), noOthers, quiet);
        return ledger.state.baseline();
      },
    };
  }

  describe('a baseline', () => {
    it('holds the ids that bear one of the names', async () => {
      const { take } = await setup(() => batchResponse(200, { droplets: both, meta: { total: 2 } }));
      expect((await take())?.existing).toEqual({ b: ['7'] });
    });

    it('is not taken from a list that does not say how long it is, and that is told instead of tried again', async () => {
      const { take, api } = await setup(() => batchResponse(200, { droplets: both }));
      await expect(take()).rejects.toMatchObject({
        code: 'incomplete_list',
        detail: expect.stringContaining('`meta.total`'),
      });
      // The pages, and then each name by itself; all of it once.
      expect(api.read.length).toBeLessThanOrEqual(1 + names.length);
    });

    it('is not taken from a list that changes whenever it is read', async () => {
      const { take } = await setup((_, at) => batchResponse(200, { droplets: both, meta: { total: 3 + at } }));
      await expect(take()).rejects.toMatchObject({ code: 'incomplete_list' });
    });
  });
});

describe('droplets of other runs on this machine', () => {
  const names = Array.from({ length: 40 }, (_, at) => `n${at}`);
  const droplets = names.map((name, at) => ({ id: `${at + 1}`, name }));
  const others = (some: readonly { readonly id: string; readonly name: string }[]): Others => ({
    created: new Map(some.map(({ id, name }) => [name, [id]])),
    uncertain: new Map(),
  });

  /** Records what exists while lists show droplets so many milliseconds after the start; those with an id in `deleted` are gone. */
  async function record(known: Others, from: number, deleted: ReadonlySet<string> = new Set()) {
    const clock = instantClock();
    const began = clock.now();
    const ledger = await ledgerFor(batchOf(names, { if_exists: 'skip' }));
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const id = /droplets\/(\d+)$/.exec(path)?.[1];
        if (id !== undefined && deleted.has(id)) return batchResponse(404, { id: 'not_found', message: 'no' });
        if (id !== undefined) return batchResponse(200, { droplet: droplets.find((one) => one.id === id) });
        const name = new URL(path, 'https://api.example').searchParams.get('name');
        const living = droplets.filter((one) => !deleted.has(one.id));
        const shown = clock.now() < began + from ? [] : living.filter((one) => name === null || one.name === name);
        return batchResponse(200, { droplets: shown, meta: { total: shown.length } });
      },
    );
    await recordExisting(testRun(ledger, api, { clock }), known, quiet);
    const byId = api.read.filter(({ path }) => /droplets\/\d+$/.test(path)).length;
    return { byId, existing: Object.keys(ledger.state.baseline()?.existing ?? {}).length, slept: clock.slept };
  }

  it('exist although the list does not show them, and a few are read by their ids', async () => {
    const found = await record(others(droplets.slice(0, 3)), 900_000);
    expect(found).toEqual({ byId: 3, existing: 3, slept: [] });
  });

  it('are awaited in the list when they are many', async () => {
    expect(await record(others(droplets), 12_000)).toMatchObject({
      byId: 3,
      existing: 40,
      slept: [5_000, 5_000, 5_000],
    });
  });

  it('are not awaited when all were deleted', async () => {
    const all = new Set(droplets.map(({ id }) => id));
    expect(await record(others(droplets), 0, all)).toEqual({ byId: 40, existing: 0, slept: [] });
  });

  it('are awaited among deleted ones, once', async () => {
    const most = new Set(droplets.slice(1).map(({ id }) => id));
    expect(await record(others(droplets), 4_000, most)).toEqual({ byId: 40, existing: 1, slept: [5_000] });
  });

  it('are not read when a command of this machine has deleted them', async () => {
    const all = new Set(droplets.map(({ id }) => id));
    const found = await record({ ...others(droplets), gone: all }, 0, all);
    expect(found).toEqual({ byId: 0, existing: 0, slept: [] });
  });

  it('are all read by their ids when the list lags longer', async () => {
    expect(await record(others(droplets), 900_000)).toMatchObject({ byId: 40, existing: 40 });
  });

  it('are looked up when it is not known whether they were created, and exist when they appear', async () => {
    const uncertain = new Map([['n7', Date.parse('2026-01-01T00:00:00Z') - 20_000]]);
    const found = await record({ created: new Map(), uncertain }, 140_000);
    // 150 s after the request and 15 s for the server, then the list shows the droplets of all names.
    expect(sum(found.slept)).toBe(145_000);
    // The names that are not in doubt are looked up, too: another machine may have created them meanwhile.
    expect(found.existing).toBe(40);
  });
});

describe('tagged batch reconciler', () => {
  const names = ['a', 'b', 'c'];
  const attributes = { size: 's', image: 'i', extra: {} };
  const batch = batchOf(names, { ...deriveBatch('x', names, attributes) });
  const { tags } = batch.attributes.extra;
  const start = Date.parse('2026-01-01T00:00:00Z');

  interface Made {
    readonly id: number;
    readonly name: string;
    readonly tags?: unknown;
    readonly size_slug?: string;
    readonly created_at?: string;
    /** Milliseconds after the start from which lists show it. */
    readonly from?: number;
  }

  interface AccountOptions {
    readonly ledger?: Ledger;
    /** What `?tag_name=` means: all droplets, those with the tag, or none. */
    readonly filter?: 'ignored' | 'applied' | 'broken' | 'refused';
  }

  /** A batch in an account with these droplets. */
  async function account(droplets: readonly Made[], { ledger, filter = 'applied' }: AccountOptions = {}) {
    const clock: Clock & { readonly slept: number[] } = instantClock();
    const began = clock.now();
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const query = new URL(path, 'https://api.example').searchParams;
        const [name, tag] = [query.get('name'), query.get('tag_name')];
        if (tag !== null && filter === 'refused') return batchResponse(422, { message: 'tag_name is not supported' });
        const shown = droplets
          .filter(({ from = 0 }) => clock.now() >= began + from)
          .filter((one) => name === null || one.name === name)
          .filter((one) => tag === null || filter === 'ignored' || (filter === 'applied' && hasTag(one, tag)));
        return batchResponse(200, { droplets: shown, meta: { total: shown.length } });
      },
    );
    const used = ledger ?? { ...(await ledgerFor(batch)), origin: 'replaced' as const };
    const doubts: (readonly [number, number])[] = [];
    const adopted: string[] = [];
    const run = testRun(used, api, { clock });
    const events = {
      onAdopted: async (found: readonly string[]) => void adopted.push(...found),
      onDoubt: async (count: number, ms: number) => void doubts.push([count, ms]),
      onProven: async () => {},
    };
    return {
      api,
      clock,
      ledger: used,
      state: used.state,
      doubts,
      adopted,
      run,
      record: () => recordExisting(run, noOthers, events),
    };
  }

  function hasTag(one: Made, tag: string): boolean {
    return Array.isArray(one.tags) && one.tags.includes(tag);
  }

  describe('a batch with --batch-id, before it sends anything', () => {
    it.each(['applied', 'ignored', 'refused'] as const)(
      'adopts the droplets with its tag when the filter is %s',
      async (filter) => {
        const run = await account(
          [
            { id: 1, name: 'a', tags },
            { id: 2, name: 'b' },
            { id: 3, name: 'z' },
          ],
          { filter },
        );
        await run.record();
        expect([...run.state.rows()]).toMatchObject([{ name: 'a', status: 'created', id: '1' }, {}, {}]);
        expect(run.state.baseline()?.existing).toEqual({ b: ['2'] });
        expect(run.adopted).toEqual(['a']);
      },
    );

    it('reads nothing by name when every name is found', async () => {
      const run = await account(names.map((name, at) => ({ id: at + 1, name, tags })));
      await run.record();
      expect(run.state.counts()).toMatchObject({ created: 3, missing: 0 });
      expect(run.api.read).toHaveLength(1);
      expect(run.clock.slept).toEqual([]);
    });

    it('compares tags without case', async () => {
      const upper = Array.isArray(tags) ? tags.map((tag) => String(tag).toUpperCase()) : [];
      const run = await account([{ id: 1, name: 'a', tags: upper }], { filter: 'ignored' });
      await run.record();
      expect(run.adopted).toEqual(['a']);
    });

    it('looks missing names up twice, 15 s apart, the first time 15 s after its start', async () => {
      const run = await account([]);
      await run.record();
      expect(run.clock.slept).toEqual([15_000, 15_000]);
      expect(run.api.read.filter(({ path }) => path.includes('tag_name'))).toHaveLength(3);
      expect(run.doubts).toEqual([[3, 30_000]]);
      expect(run.state.missing()).toEqual(names);
    });

    it('adopts what appears while it waits', async () => {
      const run = await account([
        { id: 1, name: 'a', tags, from: 10_000 },
        { id: 2, name: 'b', tags, from: 20_000 },
      ]);
      await run.record();
      expect(run.adopted).toEqual(['a', 'b']);
      expect(run.state.missing()).toEqual(['c']);
    });

    it('looks names up one by one when the filter does not show a droplet with the tag', async () => {
      const run = await account(
        [
          { id: 1, name: 'a', tags },
          { id: 2, name: 'b', tags, from: 20_000 },
        ],
        { filter: 'broken' },
      );
      await run.record();
      expect(run.adopted).toEqual(['a', 'b']);
    });

    it('does not adopt one of two droplets of a name', async () => {
      const run = await account([
        { id: 1, name: 'a', tags },
        { id: 2, name: 'a', tags },
      ]);
      await run.record();
      expect(run.state.uncertainGroups()).toMatchObject([
        { names: ['a'], resend: false, error: expect.stringMatching(/1, 2/) },
      ]);
      expect(run.state.missing()).toEqual(['b', 'c']);
    });
  });

  describe('a --batch-id of other droplets', () => {
    const other = ['cloudctl:x', 'cloudctl:x:000000000000'];

    it.each([
      ['a name that is not in the batch', { id: 9, name: 'z', tags }, /^z \(9\): /],
      ['other attributes', { id: 9, name: 'a', tags: other, size_slug: 'large' }, /^a \(9\): .*large/],
      ['attributes that cannot be seen', { id: 9, name: 'a', tags: other }, /000000000000/],
      ['no second tag', { id: 9, name: 'a', tags: ['cloudctl:x'] }, /^a \(9\): /],
      ['a hostile name', { id: 9, name: 'z\u001b[2J\u202e', tags }, /^z \(9\): /],
      ['a hostile tag', { id: 9, name: 'a', tags: ['cloudctl:x', 'cloudctl:x:\u001b[2J\u202e'] }, /^a \(9\): [ -~]*$/],
    ])('is refused for %s, and no ledger stays', async (_, droplet, detail) => {
      const run = await account([droplet]);
      await expect(run.record()).rejects.toMatchObject({ code: 'usage', detail: expect.stringMatching(detail) });
      expect(existsSync(run.ledger.path)).toBe(false);
    });

    it('is refused when the droplet appears while missing names are looked up', async () => {
      const run = await account([{ id: 9, name: 'z', tags, from: 20_000 }]);
      await expect(run.record()).rejects.toMatchObject({ code: 'usage' });
    });
  });

  describe('what an earlier run may have sent', () => {
    const sent = { event: 'sending', at: new Date(start - 20_000).toISOString(), group: 1, names: ['a'] } as const;

    async function replaced(...events: readonly Parameters<Ledger['commit']>[0][]) {
      const path = testLedgerPath();
      const earlier = await createLedgerAt(path, batch, testMachine);
      for (const event of events) await earlier.commit(event);
      await earlier.close();
      const ledger = await replaceLedger(path, batch, testMachine);
      onTestFinished(() => ledger.close());
      return ledger;
    }

    it.each([
      [3_000, 5_000],
      [112_000, 120_000],
    ])('ends the wait when it appears after %i ms', async (from, waited) => {
      const listed = names.map((name, at) => ({ id: at + 1, name, tags, ...(name === 'a' ? { from } : {}) }));
      const run = await account(listed, { ledger: await replaced(sent) });
      await run.record();
      expect(sum(run.clock.slept)).toBe(waited);
      expect(run.adopted).toContain('a');
    });

    it('is awaited until the kernel sends it no longer', async () => {
      const run = await account([], { ledger: await replaced(sent) });
      await run.record();
      // 150 s after the request, 15 s for the server, and once more 15 s later.
      expect(sum(run.clock.slept)).toBe(160_000);
    });

    it('is not awaited when its result is known', async () => {
      const failed = { event: 'failed', at: sent.at, group: 1, names: ['a'], error: 'no' } as const;
      const run = await account([], { ledger: await replaced(sent, failed) });
      await run.record();
      expect(run.clock.slept).toEqual([15_000, 15_000]);
    });

    it('is awaited no longer than that when the clock was set back', async () => {
      const run = await account([], { ledger: await replaced({ ...sent, at: '2030-01-01T00:00:00.000Z' }) });
      await run.record();
      expect(sum(run.clock.slept)).toBe(180_000);
    });

    it('is looked for at the end when droplets of the batch are young, and only then', async () => {
      const young = await account([{ id: 1, name: 'a', tags, created_at: '2025-12-31T23:59:00Z' }]);
      expect((await young.record()).lookAgainAt).toBe(start + 150_000);
      const old = await account([{ id: 1, name: 'a', tags, created_at: '2025-12-31T20:00:00Z' }]);
      expect((await old.record()).lookAgainAt).toBe(start);
    });

    it('and was created twice is unknown with both ids, whatever its row was', async () => {
      const run = await account([
        { id: 1, name: 'a', tags },
        { id: 2, name: 'b', tags },
        { id: 7, name: 'a', tags, from: 1 },
      ]);
      await run.record();
      expect(await recordDuplicates(run.run, names, undefined)).toEqual({ names: ['a'], hasTagged: true });
      expect([...run.state.rows()]).toMatchObject([
        { name: 'a', status: 'unknown', error: expect.stringMatching(/1, 7/) },
        { name: 'b', status: 'created', id: '2' },
        { name: 'c' },
      ]);
      expect(run.state.missing()).toEqual(['c']);
    });

    it('is found at the end although the list cannot be read at first', async () => {
      const run = await account([
        { id: 1, name: 'a', tags },
        { id: 7, name: 'a', tags, from: 1 },
      ]);
      await run.record();
      const { lane } = run.run;
      let failures = 2;
      const request: typeof lane.request = async (sent) => {
        failures -= 1;
        return failures < 0 ? lane.request(sent) : batchResponse(500);
      };
      expect(await recordDuplicates({ ...run.run, lane: { ...lane, request } }, [], undefined)).toMatchObject({
        names: ['a'],
      });
      expect(run.clock.slept.slice(-2)).toEqual([15_000, 15_000]);
    });

    it('stays in its ledger until the new run has its baseline', async () => {
      const ledger = await replaced(sent);
      const run = await account([{ id: 9, name: 'z', tags }], { ledger });
      await expect(run.record()).rejects.toMatchObject({ code: 'usage' });
      expect(readFileSync(ledger.path, 'utf8')).toContain('"sending"');
      const unreachable = await replaceLedger(ledger.path, batch, testMachine);
      await unreachable.close();
      expect(readFileSync(ledger.path, 'utf8')).toContain('"sending"');
      // A run that is killed here leaves both files.
      renameSync(ledger.path, `${ledger.path}.previous`);
      writeFileSync(ledger.path, encodeEvent(batch));
      const good = await account([], { ledger: await replaceLedger(ledger.path, batch, testMachine) });
      expect(good.ledger.replaced?.uncertainGroups()).toMatchObject([{ names: ['a'] }]);
      await good.record();
      await good.ledger.close();
      expect(readFileSync(ledger.path, 'utf8')).not.toContain('"sending"');
      expect(existsSync(`${ledger.path}.previous`)).toBe(false);
    });
  });
});
