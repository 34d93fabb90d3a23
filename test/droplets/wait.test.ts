import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { Batch } from '../../src/droplets/events.ts';
import { createLane } from '../../src/droplets/lane.ts';
import { createState } from '../../src/droplets/state.ts';
import {
  countsAfterWait,
  createPoller,
  createWaitResults,
  limitLane,
  rowAfterWait,
  waitUntilActive,
} from '../../src/droplets/wait.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { apiOf, batchOf, batchResponse, instantClock, ledgerFor, testRun } from './batch-fixtures.ts';

describe('wait until droplets active', () => {
  const at = '2026-01-01T00:00:00.000Z';

  /** Waits for droplets 1, 2, … of the names; each list has its response, and the last stays. */
  async function waited(
    names: readonly string[],
    lists: readonly ApiResponse[],
    { items = {}, ...changes }: Partial<Batch> & { readonly items?: Readonly<Record<string, ApiResponse>> } = {},
  ) {
    const state = createState(batchOf(names, changes));
    const rows = names.map((name, index) => ({ name, id: String(index + 1), action_id: String(index + 901) }));
    const isSkipped = ({ name }: { readonly name: string }): boolean => name.startsWith('old');
    if (changes.if_exists === 'skip') {
      const existing = Object.fromEntries(rows.filter(isSkipped).map(({ name, id }) => [name, [id]]));
      state.apply({ event: 'baseline', at, existing });
    }
    state.apply({ event: 'created', at, group: 1, rows: rows.filter((row) => !isSkipped(row)) });
    let count = -1;
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const id = /^\/v2\/droplets\/(\d+)$/.exec(path)?.[1];
        const item = items[path];
        if (item !== undefined) return item;
        if (id === undefined && !path.includes('?')) return batchResponse(404, { id: 'not_found' });
        // The droplet of a batch of one is read by id.
        if (id === undefined || names.length === 1) count += 1;
        const list = lists[Math.min(count, lists.length - 1)] ?? batchResponse(500);
        if (id === undefined || list.status !== 200) return list;
        const { droplets }: { droplets: readonly { id: number }[] } = JSON.parse(list.text());
        const droplet = droplets.find((one) => one.id === Number(id));
        return droplet === undefined ? batchResponse(404, { id: 'not_found' }) : batchResponse(200, { droplet });
      },
    );
    const clock = deadlineClock();
    const told: string[] = [];
    const ended: string[] = [];
    const onPoll = async (active: number, total: number, names: readonly string[]): Promise<void> => {
      told.push(`${active}/${total}`);
      ended.push(...names);
    };
    const results = createWaitResults();
    const ledger = { ...(await ledgerFor(batchOf(names, changes))), state };
    const run = testRun(ledger, api, { clock });
    const error = await waitUntilActive(run, { onPoll, results, timeout: 900_000 }).catch((reason: unknown) => reason);
    const lookups = api.read.map(({ path }) => path);
    const paths = lookups.filter((path) => path.includes('?'));
    const slept = clock.slept;
    return { told, ended, error, results, failures: Object.fromEntries(results.failures), paths, lookups, slept };
  }

  /** Every wait is over at once; the deadline passes when the waits before it have lasted as long. */
  function deadlineClock() {
    const clock = instantClock();
    let deadline = (): void => {};
    const startedAt = clock.now();
    const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
      if (ms >= 900_000)
        return new Promise((resolve) => {
          deadline = resolve;
        });
      await clock.sleep(ms, signal);
      if (clock.now() - startedAt > 900_000) deadline();
    };
    return { ...clock, sleep };
  }

  function listed(...statuses: readonly (string | undefined)[]): ApiResponse {
    const droplets = statuses.flatMap((status, index) =>
      status === undefined ? [] : [{ id: index + 1, name: 'x', status, networks: networksOf(index + 1) }],
    );
    return batchResponse(200, { droplets, meta: { total: droplets.length } });
  }

  function networksOf(id: number): object {
    return { v4: [{ type: 'public', ip_address: `203.0.113.${id}` }] };
  }

  describe('waiting for a batch', () => {
    it('reads one list an interval for all of it, until none is new', async () => {
      const droplet = { id: '2', name: 'b', status: 'off', networks: networksOf(2) };
      const items = { '/v2/droplets/2': batchResponse(200, { droplet }) };
      const { told, paths, lookups, slept, failures, ended, results } = await waited(
        ['a', 'b'],
        [listed('new', 'new'), listed('active', 'new')],
        { items },
      );
      expect(told).toEqual(['0/2', '1/2', '2/2']);
      expect(paths).toHaveLength(2);
      // The last one is read by id.
      expect(lookups.slice(2)).toEqual(['/v2/droplets/2']);
      expect(slept).toEqual([2_000, 5_000, 5_000]);
      expect(failures).toEqual({});
      expect(ended).toEqual(['a', 'b']);
      expect([...results.addresses]).toEqual([
        ['1', '203.0.113.1'],
        ['2', '203.0.113.2'],
      ]);
    });

    it('reads one droplet by id, and a marked batch by its tag', async () => {
      expect((await waited(['a'], [listed('active')])).lookups).toEqual(['/v2/droplets/1']);
      const marked = await waited(['a', 'b'], [listed('active', 'active')], { content_hash: 'c0ffee000000' });
      expect(marked.paths).toEqual(['/v2/droplets?tag_name=cloudctl%3Ab1%3Ac0ffee000000&page=1&per_page=200']);
    });

    it('waits for skipped droplets, too, which need not have the tag of the batch', async () => {
      const droplet = { id: 1, name: 'old-a', status: 'active', networks: networksOf(1) };
      const { told, ended, paths, results } = await waited(
        ['old-a', 'old-b', 'c'],
        [listed('new', 'active', 'active'), listed('active', 'active', 'active')],
        {
          if_exists: 'skip',
          content_hash: 'c0ffee000000',
          items: { '/v2/droplets/1': batchResponse(200, { droplet }) },
        },
      );
      expect(told).toEqual(['2/3', '3/3']);
      expect(ended).toEqual(['old-b', 'c', 'old-a']);
      expect(paths.every((path) => !path.includes('tag_name'))).toBe(true);
      expect([...results.addresses.keys()].sort()).toEqual(['1', '2', '3']);
    });

    it('ends for a deleted droplet, which is then not created', async () => {
      const { failures, told, ended } = await waited(['a', 'b'], [listed('active', undefined)]);
      expect(failures).toEqual({ 2: expect.stringContaining('2') });
      expect(ended).toEqual(['a', 'b']);
      expect(told).toHaveLength(5);
      expect(told.at(-1)).toBe('1/2');
    });

    it('keeps a droplet that only the list lacks', async () => {
      const droplet = { id: '2', name: 'b', status: 'active', networks: networksOf(2) };
      const items = { '/v2/droplets/2': batchResponse(200, { droplet }) };
      const { failures, results } = await waited(['a', 'b'], [listed('active', undefined)], { items });
      expect(failures).toEqual({});
      expect(results.addresses.get('2')).toBe('203.0.113.2');
    });

    it('ends for a droplet whose create action failed', async () => {
      const items = {
        '/v2/actions/901': batchResponse(200, { action: { id: 901, type: 'create', status: 'errored' } }),
      };
      const { failures, lookups } = await waited(['a'], [listed('new')], { items });
      expect(failures).toEqual({ 1: expect.stringContaining('901') });
      // A droplet that becomes active soon costs no further request.
      expect(lookups.filter((path) => path === '/v2/actions/901')).toHaveLength(1);
      expect(lookups).toHaveLength(4);
    });

    it('ends after the time limit', async () => {
      const items = {
        '/v2/actions/901': batchResponse(200, { action: { id: 901, type: 'create', status: 'in-progress' } }),
      };
      const { error, slept } = await waited(['a'], [listed('new')], { items });
      expect(error).toMatchObject({ code: 'timeout', exitCode: 5, detail: 'a' });
      expect(slept.length).toBeGreaterThan(170);
    });

    it('bears four answers in a row that are none, and no more', async () => {
      expect((await waited(['a'], [batchResponse(502), batchResponse(502), listed('active')])).told).toEqual([
        '0/1',
        '0/1',
        '1/1',
      ]);
      const four = [batchResponse(502), batchResponse(502), batchResponse(502), batchResponse(502)];
      expect((await waited(['a'], [...four, listed('new'), ...four, listed('active')])).told).toHaveLength(10);
      const { error } = await waited(['a'], [...four, batchResponse(502), listed('active')]);
      expect(error).toMatchObject({ code: 'api_error' });
    });
  });
});

describe('batch droplet reader', () => {
  interface Account {
    /** Ids in the order of the list. */
    readonly ids: readonly number[];
    /** Ids that only a list with the tag returns, and no other. */
    readonly tagged?: readonly number[];
    readonly next?: (page: number) => string;
    readonly hasTotal?: boolean;
    readonly tag?: string;
    /** Ids that the lists lack. */
    readonly unlisted?: readonly number[];
  }

  function pollerOf({ ids, tagged, next, hasTotal = true, tag, unlisted = [] }: Account) {
    const linkOf = next ?? ((page: number) => `/v2/droplets?page=${page}&per_page=200`);
    const droplet = (id: number) => ({ id, name: `n-${id}`, status: 'new' });
    const api = apiOf(
      () => batchResponse(500),
      ({ path }) => {
        const { pathname, searchParams } = new URL(path, 'https://api.example');
        const id = /\/(\d+)$/.exec(pathname)?.[1];
        if (id !== undefined) {
          const exists = ids.includes(Number(id)) || unlisted.includes(Number(id));
          return exists ? batchResponse(200, { droplet: droplet(Number(id)) }) : batchResponse(404);
        }
        const list = searchParams.has('tag_name') && tagged !== undefined ? tagged : ids;
        const page = Number(searchParams.get('page') ?? searchParams.get('at'));
        const links = page * 200 < list.length ? { pages: { next: linkOf(page + 1) } } : {};
        const droplets = list.slice((page - 1) * 200, page * 200).map(droplet);
        return batchResponse(200, { droplets, links, ...(hasTotal ? { meta: { total: list.length } } : {}) });
      },
    );
    const onPause = async (): Promise<void> => {};
    const lane = createLane({
      api,
      loginHints: workLoginHints,
      clock: instantClock(),
      maxPause: 900_000,
      onPause,
    });
    const poller = createPoller(lane, tag);
    const poll = async (awaited: readonly number[]) => {
      const before = api.read.length;
      const seen: number[] = [];
      const { signal } = new AbortController();
      const left = await poller.poll(awaited.map(String), (id) => seen.push(Number(id)), signal);
      const missing = left.map(Number);
      return { seen: seen.sort((one, other) => one - other), missing, requests: api.read.length - before };
    };
    return { poll, paths: () => api.read.map(({ path }) => path) };
  }

  function from(first: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, at) => first + at);
  }

  const old = from(1, 25_000);

  describe('a poll', () => {
    it('of one droplet is one request', async () => {
      const { poll, paths } = pollerOf({ ids: [...old, 30_001] });
      expect(await poll([30_001])).toEqual({ seen: [30_001], missing: [], requests: 1 });
      expect(paths()).toEqual(['/v2/droplets/30001']);
    });

    it.each([
      ['end', [...old, ...from(30_001, 3)]],
      ['start', [...from(30_001, 3), ...old]],
    ])('of three at the %s of a long list needs few requests', async (_end, ids) => {
      const { poll } = pollerOf({ ids });
      const first = await poll(from(30_001, 3));
      expect(first).toMatchObject({ seen: from(30_001, 3), missing: [] });
      expect(first.requests).toBeLessThanOrEqual(2);
      expect((await poll(from(30_001, 3))).requests).toBeLessThanOrEqual(3);
    });

    it.each([
      ['end', [...old, ...from(30_001, 10_000)]],
      ['start', [...from(30_001, 10_000), ...old]],
    ])('of 10,000 at the %s of a long list reads their pages', async (_end, ids) => {
      const { poll } = pollerOf({ ids });
      const awaited = from(30_001, 10_000);
      for (const most of [52, 51]) {
        const { seen, requests } = await poll(awaited);
        expect(seen).toEqual(awaited);
        expect(requests).toBeLessThanOrEqual(most);
      }
      // The last ones are read by id.
      expect(await poll(awaited.slice(0, 40))).toMatchObject({ requests: 40, missing: [] });
    });

    it.each([1, 2, 199, 200])(
      'of droplets of which %i are on the last page reads the page before it',
      async (count) => {
        const awaited = from(30_001, 150);
        const { poll } = pollerOf({ ids: [...from(1, 5_000 + count - 150), ...awaited] });
        const { seen, requests } = await poll(awaited);
        expect(seen).toEqual(awaited);
        expect(requests).toBeLessThanOrEqual(3);
      },
    );

    it('of some that were deleted reads these by id and not the other pages', async () => {
      const awaited = from(30_001, 600);
      const { poll } = pollerOf({ ids: [...old, ...awaited.filter((id) => id % 300 !== 0)] });
      const { missing, requests } = await poll(awaited);
      expect(missing).toEqual([30_300, 30_600]);
      expect(requests).toBeLessThanOrEqual(2 + 4 + 2);
    });

    it('of droplets in the middle of a list finds them all', async () => {
      const awaited = from(30_001, 300);
      const ids = [...old.slice(0, 2_000), ...awaited, ...old.slice(2_000, 4_000)];
      expect(await pollerOf({ ids }).poll(awaited)).toMatchObject({ seen: awaited, missing: [] });
    });

    it('of a marked batch reads the list of its tag', async () => {
      const awaited = from(30_001, 300);
      const { poll, paths } = pollerOf({ ids: [...old, ...awaited], tagged: awaited, tag: 'cloudctl-b1' });
      expect(await poll(awaited)).toMatchObject({ seen: awaited, requests: 2 });
      expect(paths()[0]).toBe('/v2/droplets?tag_name=cloudctl-b1&page=1&per_page=200');
    });

    it('does not use the tag again whose list has none of the droplets', async () => {
      const awaited = from(30_001, 5);
      const { poll } = pollerOf({ ids: awaited, tagged: [], tag: 'cloudctl-b1' });
      expect((await poll(awaited)).missing).toEqual(awaited);
      expect(await poll(awaited)).toMatchObject({ seen: awaited, requests: 1 });
    });

    it.each([
      ['pages have no numbers', { next: (page: number) => `/v2/droplets?at=${page}` }],
      ['the list has no total', { hasTotal: false }],
    ])('follows the links when %s', async (_case, more) => {
      const awaited = from(30_001, 500);
      const { poll } = pollerOf({ ids: [...old.slice(0, 1_000), ...awaited], ...more });
      expect(await poll(awaited)).toMatchObject({ seen: awaited, missing: [], requests: 8 });
    });

    it.each([
      ['without a total', {}],
      ['with a total of no list', { meta: { total: 1e15 } }],
    ])('reads the droplets by id when the pages never end, %s', async (_case, more) => {
      const poll = async (): Promise<readonly string[]> => {
        const api = apiOf(
          () => batchResponse(500),
          ({ path }) => {
            const { pathname, searchParams } = new URL(path, 'https://api.example');
            const id = /\/(\d+)$/.exec(pathname)?.[1];
            if (id !== undefined)
              return batchResponse(200, { droplet: { id: Number(id), name: 'n', status: 'active' } });
            const page = Number(searchParams.get('page'));
            const links = { pages: { next: `/v2/droplets?page=${page + 1}` } };
            return batchResponse(200, { droplets: [{ id: page + 1000, name: 'x', status: 'new' }], links, ...more });
          },
        );
        const onPause = async (): Promise<void> => {};
        const loginHints = workLoginHints;
        const lane = createLane({ api, loginHints, clock: instantClock(), maxPause: 900_000, onPause });
        const seen: string[] = [];
        await createPoller(lane, undefined).poll(['1', '2', '3'], (id) => seen.push(id), new AbortController().signal);
        expect(api.read.length).toBeLessThan(10_010);
        return seen;
      };
      expect(await poll()).toEqual(['1', '2', '3']);
    });

    it('reports droplets that a whole list lacks, even if they exist', async () => {
      const { poll } = pollerOf({ ids: from(1, 3), unlisted: [4, 5] });
      expect(await poll([1, 2, 4, 5])).toEqual({ seen: [1, 2], missing: [4, 5], requests: 1 });
    });
  });
});

describe('wait results', () => {
  it('a created row gets the address of its droplet, and fails when the droplet cannot become active', () => {
    const results = createWaitResults();
    results.addresses.set('1', '203.0.113.1');
    results.failures.set('2', 'deleted');
    const created = { name: 'a', status: 'created', id: '1' } as const;
    expect(rowAfterWait(created, results)).toEqual({ ...created, public_ipv4: '203.0.113.1' });
    expect(rowAfterWait({ ...created, id: '2' }, results)).toEqual({
      name: 'a',
      status: 'failed',
      id: '2',
      error: 'deleted',
    });
    expect(rowAfterWait({ ...created, id: '3' }, results)).toEqual({ ...created, id: '3' });
  });

  it('a skipped row, too', () => {
    const results = createWaitResults();
    results.addresses.set('1', '203.0.113.1');
    results.failures.set('2', 'deleted');
    const skipped = { name: 'a', status: 'skipped', id: '1', difference: 'size' } as const;
    expect(rowAfterWait(skipped, results)).toEqual({ ...skipped, public_ipv4: '203.0.113.1' });
    expect(rowAfterWait({ ...skipped, id: '2' }, results)).toEqual({
      name: 'a',
      status: 'failed',
      id: '2',
      error: 'deleted',
    });
    expect(rowAfterWait({ ...skipped, id: '3' }, results)).toEqual({ ...skipped, id: '3' });
  });

  it('a droplet that cannot become active is counted as failed', () => {
    const state = createState(batchOf(['a', 'b', 'c'], { if_exists: 'skip' }));
    const at = '2026-01-02T03:04:05Z';
    state.apply({ event: 'baseline', at, existing: { a: ['1'], b: ['2'] } });
    state.apply({ event: 'created', at, group: 1, rows: [{ name: 'c', id: '3' }] });
    const results = createWaitResults();
    expect(countsAfterWait(state, results)).toMatchObject({ created: 1, skipped: 2, failed: 0 });
    results.failures.set('2', 'deleted');
    expect(countsAfterWait(state, results)).toMatchObject({ created: 1, skipped: 1, failed: 1 });
    results.failures.set('3', 'deleted');
    expect(countsAfterWait(state, results)).toMatchObject({ created: 0, skipped: 1, failed: 2 });
  });
});

describe('request rate limit', () => {
  const { signal } = new AbortController();

  function limited(status: number) {
    const clock = instantClock();
    const sentAt: number[] = [];
    const api = apiOf(
      () => batchResponse(500),
      () => {
        sentAt.push(clock.now());
        return batchResponse(status);
      },
    );
    const onPause = async (): Promise<void> => {};
    const lane = createLane({ api, loginHints: workLoginHints, clock, maxPause: 900_000, onPause });
    const { lane: limitedLane } = limitLane(lane, clock, { requests: 25, window: 60_000 });
    const send = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        await limitedLane.waitForTurn(signal);
        await limitedLane.request({ method: 'GET', path: '/v2/droplets' });
      }
    };
    return { send, sentAt, clock };
  }

  it('in no minute are there more than 25 requests', async () => {
    const { send, sentAt } = limited(200);
    await send(80);
    for (const [at, time] of sentAt.entries())
      expect(sentAt.slice(at).filter((other) => other < time + 60_000).length).toBeLessThanOrEqual(25);
    expect(new Set(sentAt).size).toBe(4);
  });

  it('a request that fails counts three times: the API client has repeated it', async () => {
    const { send, sentAt } = limited(502);
    await send(18);
    expect(sentAt.filter((time) => time === sentAt[0]).length).toBeLessThanOrEqual(9);
  });
});
