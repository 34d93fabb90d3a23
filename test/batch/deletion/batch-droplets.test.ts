import { expect, it } from 'vitest';
import { findDropletsCreatedByBatch, readBatchDroplets } from '../../../src/batch/deletion/batch-droplets.ts';
import { createBatchLedgerState } from '../../../src/batch/ledger/batch-ledger-state.ts';
import { apiOf } from '../../api/api-of.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { batchOf } from '../batch-fixtures.ts';

/** A reader of a server whose lists have these droplets. */
async function readerOf(droplets: readonly { readonly id: number; readonly name: string }[]) {
  const server = await serverFor(({ url }, response) => {
    if (/\/\d+$/.test(url)) return reply(response, 404, { id: 'not_found', message: 'no' });
    const name = new URL(url, 'http://x').searchParams.get('name');
    const found = droplets.filter((one) => name === null || one.name === name);
    reply(response, 200, { droplets: found, links: {}, meta: { total: found.length } });
  });
  const api = await apiOf(server.origin);
  return { api, pause: async () => {} };
}

function stateOf(mark: boolean) {
  const names = ['a', 'b', 'c', 'd'];
  const state = createBatchLedgerState(
    batchOf(names, { mark, attributes: { size: 's', image: 'i', region: 'r', extra: {} } }),
  );
  const at = '2026-01-01T00:00:00.000Z';
  state.apply({ event: 'baseline', at, existing: {} });
  state.apply({ event: 'created', at, group: 1, rows: [1, 2, 3].map((id) => ({ name: names[id - 1] ?? '', id })) });
  return state;
}

it.each([true, false])(
  'has the droplets as the server shows them, and the others as in the ledger (mark: %s)',
  async (mark) => {
    const tags = ['cloudctl-b1'];
    const droplets = [
      { id: 1, name: 'A', tags, region: { slug: 'nyc3' } },
      // Without the tag of the batch.
      { id: 2, name: 'b', tags: [] },
      { id: 9, name: 'd', tags },
    ];
    const found = await findDropletsCreatedByBatch(stateOf(mark), await readerOf(droplets));
    expect(found.map(({ id, name, region }) => ({ id, name, region }))).toEqual([
      { id: 1, name: 'A', region: 'nyc3' },
      { id: 2, name: 'b', region: undefined },
      { id: 3, name: 'c', region: 'r' },
    ]);
  },
);

it.each([true, false])('refuses a droplet with another name, also without the tag (mark: %s)', async (mark) => {
  const reader = await readerOf([{ id: 2, name: 'database' }]);
  await expect(findDropletsCreatedByBatch(stateOf(mark), reader)).rejects.toMatchObject({ code: 'usage' });
});

it('reads only the ids of the ledger', async () => {
  const reader = await readerOf([
    { id: 1, name: 'a' },
    { id: 9, name: 'b' },
  ]);
  expect([...(await readBatchDroplets(stateOf(false), reader)).keys()]).toEqual([1]);
});
