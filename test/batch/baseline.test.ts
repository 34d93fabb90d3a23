import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../src/api/client.ts';
import type { ApiAnswer } from '../../src/api/problem.ts';
import { takeBaseline } from '../../src/batch/baseline.ts';
import { createLine } from '../../src/batch/line.ts';
import { createLookups } from '../../src/batch/lookup.ts';
import { workWayIn } from '../api/way-in.ts';
import { answer, apiOf, batchOf, hastyClock, ledgerFor } from './ground.ts';

const names = ['a', 'b', 'c'];
/** Ids and names, as GET answers with them. */
const both = [
  { id: 7, name: 'b' },
  { id: 8, name: 'z' },
];

async function ground(list: (request: ApiRequest, at: number) => ApiAnswer) {
  const ledger = await ledgerFor(batchOf(names));
  const [api, clock, ending] = [apiOf(() => answer(500), list), hastyClock(), new AbortController().signal];
  const line = createLine({ api, wayIn: workWayIn, clock, pause: 900_000, onPause: async () => {} });
  return { api, take: () => takeBaseline({ ledger, line, lookups: createLookups(line), clock, ending }) };
}

describe('a baseline', () => {
  it('holds the ids that bear one of the names, and is taken only once', async () => {
    const { take, api } = await ground(() => answer(200, { droplets: both, meta: { total: 2 } }));
    const taken = await take();
    expect(taken.existing).toEqual({ b: [7] });
    const asked = api.read.length;
    expect(await take()).toBe(taken);
    expect(api.read).toHaveLength(asked);
  });

  it('is not taken from a list that does not say how long it is, and that is told instead of tried again', async () => {
    const { take, api } = await ground(() => answer(200, { droplets: both }));
    await expect(take()).rejects.toMatchObject({
      code: 'incomplete_list',
      detail: expect.stringContaining('`meta.total`'),
    });
    // The pages, and then each name by itself; all of it once.
    expect(api.read.length).toBeLessThanOrEqual(1 + names.length);
  });

  it('is not taken from a list that changes whenever it is read', async () => {
    const { take } = await ground((_, at) => answer(200, { droplets: both, meta: { total: 3 + at } }));
    await expect(take()).rejects.toMatchObject({ code: 'incomplete_list', hint: 'run the command again' });
  });
});
