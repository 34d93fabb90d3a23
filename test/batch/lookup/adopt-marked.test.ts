import { expect, it } from 'vitest';
import type { BatchDescriptionLedgerEvent } from '../../../src/batch/ledger/batch-ledger-event.ts';
import { adoptMarkedDroplets } from '../../../src/batch/lookup/adopt-marked.ts';
import { createDropletByNameFinder } from '../../../src/batch/lookup/droplet-by-name-finder.ts';
import { batchTag } from '../../../src/batch/sending/droplet-creation-requests.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { apiOf, batchOf, batchResponse, instantClock, ledgerFor } from '../batch-fixtures.ts';

const names = ['a', 'b', 'c'];
const at = '2026-01-01T00:00:00.000Z';
const tags = [batchTag('b1')];
const b = { id: 8, name: 'b', size_slug: 's', tags };

async function adopt(
  droplets: readonly object[],
  changes: Partial<BatchDescriptionLedgerEvent> = {},
  total = droplets.length,
) {
  const ledger = await ledgerFor(batchOf(names, { mark: true, ...changes }));
  await ledger.commit({ event: 'baseline', at, existing: { c: [3] } });
  await ledger.commit({ event: 'sending', at, group: 1, names: ['a'] });
  await ledger.commit({ event: 'created', at, group: 1, rows: [{ name: 'a', id: 1 }] });
  const api = apiOf(
    () => batchResponse(500),
    ({ path }) => {
      const name = /[?&]name=(\w+)/.exec(path)?.[1];
      const met = droplets.filter((one) => name === undefined || ('name' in one && one.name === name));
      return batchResponse(200, { droplets: met, meta: { total: total - droplets.length + met.length } });
    },
  );
  const clock = instantClock();
  const line = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock,
    maxPause: 900_000,
    onPause: async () => {},
  });
  const ending = new AbortController().signal;
  const adopted = await adoptMarkedDroplets({ ledger, lookup: createDropletByNameFinder(line), clock, ending });
  return { adopted, api, roster: ledger.state };
}

it('names that a copy of the ledger has created are adopted, those that nobody created are left to be sent', async () => {
  const { adopted, roster } = await adopt([{ id: 1, name: 'a', tags }, { id: 3, name: 'c' }, b]);
  expect(adopted).toEqual(['b']);
  expect(roster.missing()).toEqual(['c']);
  expect([...roster.rows()][1]).toEqual({ name: 'b', status: 'created', id: 8 });
});

it('two droplets of a name are in doubt, and so is one that a list showed which was not whole', async () => {
  const crowded = await adopt([b, { ...b, id: 9 }]);
  const torn = await adopt([b], {}, 5);
  for (const { adopted, roster } of [crowded, torn]) {
    expect(adopted).toEqual([]);
    expect(roster.uncertainGroups()).toMatchObject([{ names: ['b'], resend: true }]);
    expect(roster.missing()).toEqual(['c']);
  }
});

it('a droplet without the tag is that of somebody else', async () => {
  const { roster } = await adopt([{ ...b, tags: ['web'] }]);
  expect(roster.missing()).toEqual(['b', 'c']);
});

it('what others create is no reason not to make more, if it has no tag', async () => {
  expect((await adopt([b], { if_exists: 'create' })).adopted).toEqual(['b']);
});

it('without --mark nothing tells whose a droplet is, and none is looked for', async () => {
  const { adopted, api } = await adopt([b], { mark: false });
  expect(adopted).toEqual([]);
  expect(api.read).toEqual([]);
});
