import { describe, expect, it } from 'vitest';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { createBatchDropletReader } from '../../../src/batch/waiting/batch-droplet-reader.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchResponse, instantClock } from '../batch-fixtures.ts';

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
  const lane = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock: instantClock(),
    maxPause: 900_000,
    onPause,
  });
  const poller = createBatchDropletReader(lane, tag);
  const poll = async (awaited: readonly number[]) => {
    const before = api.read.length;
    const seen: number[] = [];
    const missing = await poller.poll(awaited, (id) => seen.push(id), new AbortController().signal);
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

  it.each([1, 2, 199, 200])('of droplets of which %i are on the last page reads the page before it', async (count) => {
    const awaited = from(30_001, 150);
    const { poll } = pollerOf({ ids: [...from(1, 5_000 + count - 150), ...awaited] });
    const { seen, requests } = await poll(awaited);
    expect(seen).toEqual(awaited);
    expect(requests).toBeLessThanOrEqual(3);
  });

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

  it('reports droplets that a whole list lacks, even if they exist', async () => {
    const { poll } = pollerOf({ ids: from(1, 3), unlisted: [4, 5] });
    expect(await poll([1, 2, 4, 5])).toEqual({ seen: [1, 2], missing: [4, 5], requests: 1 });
  });
});
