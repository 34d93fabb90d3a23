import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import { createBatchState } from '../../src/batch/batch-state.ts';
import type { BatchEvent } from '../../src/batch/ledger-event.ts';
import { createSendLane } from '../../src/batch/send-lane.ts';
import { waitUntilActive } from '../../src/batch/wait-until-active.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { apiOf, batchOf, batchResponse, instantClock } from './batch-fixtures.ts';

const at = '2026-01-01T00:00:00.000Z';

/** Waits for droplets 1, 2, … of the names; each look has its answer, and the last stays. */
async function waited(names: readonly string[], looks: readonly ApiResponse[], changes: Partial<BatchEvent> = {}) {
  const roster = createBatchState(batchOf(names, changes));
  roster.apply({ event: 'created', at, group: 1, rows: names.map((name, index) => ({ name, id: index + 1 })) });
  const api = apiOf(
    () => batchResponse(500),
    (_, count) => looks[Math.min(count, looks.length - 1)] ?? batchResponse(500),
  );
  const clock = instantClock();
  const line = createSendLane({ api, loginHints: workLoginHints, clock, maxPause: 900_000, onPause: async () => {} });
  const told: string[] = [];
  const onLook = async (active: number, total: number): Promise<void> => void told.push(`${active}/${total}`);
  const { signal } = new AbortController();
  const gone = await waitUntilActive(roster, { lane: line, clock, poll: 5_000, signal, onPoll: onLook });
  return { gone, told, paths: api.read.map(({ path }) => path), slept: clock.slept };
}

function listed(...statuses: readonly (string | undefined)[]): ApiResponse {
  const droplets = statuses.flatMap((status, index) =>
    status === undefined ? [] : [{ id: index + 1, name: 'x', status }],
  );
  return batchResponse(200, { droplets, meta: { total: droplets.length } });
}

describe('waiting for a batch', () => {
  it('asks once an interval for all of it, until none is new', async () => {
    const { told, paths, slept, gone } = await waited(
      ['a', 'b'],
      [listed('new', 'new'), listed('active', 'new'), listed('active', 'off')],
    );
    expect(told).toEqual(['0/2', '1/2', '2/2']);
    expect(paths).toHaveLength(3);
    expect(slept).toEqual([5_000, 5_000]);
    expect(gone).toEqual([]);
  });

  it('asks for what it needs only, as far as the server filters', async () => {
    expect((await waited(['a'], [listed('active')])).paths).toEqual(['/v2/droplets?name=a&page=1&per_page=200']);
    const marked = await waited(['a', 'b'], [listed('active', 'active')], { mark: true });
    expect(marked.paths).toEqual(['/v2/droplets?tag_name=cloudctl-b1&page=1&per_page=200']);
  });

  it('ends for a droplet that is not there any more', async () => {
    const { gone, told } = await waited(['a', 'b'], [listed('active', undefined)]);
    expect(gone).toEqual(['b']);
    expect(told).toHaveLength(5);
    // What is gone is not active.
    expect(told.at(-1)).toBe('1/2');
  });

  it('bears four answers in a row that are none, and no more', async () => {
    expect((await waited(['a'], [batchResponse(502), batchResponse(502), listed('active')])).told).toEqual([
      '0/1',
      '0/1',
      '1/1',
    ]);
    const four = [batchResponse(502), batchResponse(502), batchResponse(502), batchResponse(502)];
    expect((await waited(['a'], [...four, listed('new'), ...four, listed('active')])).told).toHaveLength(10);
    await expect(waited(['a'], [...four, batchResponse(502), listed('active')])).rejects.toMatchObject({
      code: 'api_error',
    });
  });
});
