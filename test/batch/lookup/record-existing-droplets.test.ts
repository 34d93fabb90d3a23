import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/api/api-response.ts';
import type { ApiRequest } from '../../../src/api/client.ts';
import { createDropletByNameFinder } from '../../../src/batch/lookup/droplet-by-name-finder.ts';
import { recordExistingDroplets } from '../../../src/batch/lookup/record-existing-droplets.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchOf, batchResponse, instantClock, ledgerFor } from '../batch-fixtures.ts';

const names = ['a', 'b', 'c'];
/** Ids and names, as GET answers with them. */
const both = [
  { id: 7, name: 'b' },
  { id: 8, name: 'z' },
];

async function setup(list: (request: ApiRequest, at: number) => ApiResponse) {
  const ledger = await ledgerFor(batchOf(names));
  const [api, clock, ending] = [apiOf(() => batchResponse(500), list), instantClock(), new AbortController().signal];
  const line = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock,
    maxPause: 900_000,
    onPause: async () => {},
  });
  return {
    api,
    take: () => recordExistingDroplets({ ledger, lane: line, lookup: createDropletByNameFinder(line), clock, ending }),
  };
}

describe('a baseline', () => {
  it('holds the ids that bear one of the names, and is taken only once', async () => {
    const { take, api } = await setup(() => batchResponse(200, { droplets: both, meta: { total: 2 } }));
    const taken = await take();
    expect(taken.existing).toEqual({ b: [7] });
    const asked = api.read.length;
    expect(await take()).toBe(taken);
    expect(api.read).toHaveLength(asked);
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
