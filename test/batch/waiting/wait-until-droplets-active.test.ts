import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/api/api-response.ts';
import type { BatchDescriptionLedgerEvent } from '../../../src/batch/ledger/batch-ledger-event.ts';
import { createBatchLedgerState } from '../../../src/batch/ledger/batch-ledger-state.ts';
import { defaultBatchTimeLimits } from '../../../src/batch/sending/batch-time-limits.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { createDropletWaitResults } from '../../../src/batch/waiting/wait-results.ts';
import { waitUntilDropletsActive } from '../../../src/batch/waiting/wait-until-droplets-active.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchOf, batchResponse, instantClock } from '../batch-fixtures.ts';

const at = '2026-01-01T00:00:00.000Z';

/** Waits for droplets 1, 2, … of the names; each list has its response, and the last stays. */
async function waited(
  names: readonly string[],
  lists: readonly ApiResponse[],
  {
    items = {},
    ...changes
  }: Partial<BatchDescriptionLedgerEvent> & { readonly items?: Readonly<Record<string, ApiResponse>> } = {},
) {
  const state = createBatchLedgerState(batchOf(names, changes));
  const rows = names.map((name, index) => ({ name, id: index + 1, action_id: index + 901 }));
  state.apply({ event: 'created', at, group: 1, rows });
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
  const lane = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock,
    maxPause: 900_000,
    onPause: async () => {},
  });
  const told: string[] = [];
  const ended: string[] = [];
  const onPoll = async (active: number, total: number, names: readonly string[]): Promise<void> => {
    told.push(`${active}/${total}`);
    ended.push(...names);
  };
  const { signal } = new AbortController();
  const results = createDropletWaitResults();
  const error = await waitUntilDropletsActive(state, {
    ...{ lane, clock, signal, onPoll, results },
    ...{ timings: defaultBatchTimeLimits, timeout: 900_000 },
  }).catch((reason: unknown) => reason);
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
    const droplet = { id: 2, name: 'b', status: 'off', networks: networksOf(2) };
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
      [1, '203.0.113.1'],
      [2, '203.0.113.2'],
    ]);
  });

  it('reads one droplet by id, and a marked batch by its tag', async () => {
    expect((await waited(['a'], [listed('active')])).lookups).toEqual(['/v2/droplets/1']);
    const marked = await waited(['a', 'b'], [listed('active', 'active')], { mark: true });
    expect(marked.paths).toEqual(['/v2/droplets?tag_name=cloudctl-b1&page=1&per_page=200']);
  });

  it('ends for a deleted droplet, which is then not created', async () => {
    const { failures, told, ended } = await waited(['a', 'b'], [listed('active', undefined)]);
    expect(failures).toEqual({ 2: expect.stringContaining('2') });
    expect(ended).toEqual(['a', 'b']);
    expect(told).toHaveLength(5);
    expect(told.at(-1)).toBe('1/2');
  });

  it('keeps a droplet that only the list lacks', async () => {
    const droplet = { id: 2, name: 'b', status: 'active', networks: networksOf(2) };
    const items = { '/v2/droplets/2': batchResponse(200, { droplet }) };
    const { failures, results } = await waited(['a', 'b'], [listed('active', undefined)], { items });
    expect(failures).toEqual({});
    expect(results.addresses.get(2)).toBe('203.0.113.2');
  });

  it('ends for a droplet whose create action failed', async () => {
    const items = { '/v2/actions/901': batchResponse(200, { action: { id: 901, status: 'errored' } }) };
    const { failures, lookups } = await waited(['a'], [listed('new')], { items });
    expect(failures).toEqual({ 1: expect.stringContaining('901') });
    // A droplet that becomes active soon costs no further request.
    expect(lookups.filter((path) => path === '/v2/actions/901')).toHaveLength(1);
    expect(lookups).toHaveLength(4);
  });

  it('ends after the time limit', async () => {
    const items = { '/v2/actions/901': batchResponse(200, { action: { id: 901, status: 'in-progress' } }) };
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
