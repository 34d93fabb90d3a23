import { expect, it } from 'vitest';
import type { Batch, LedgerEvent } from '../../src/droplets/events.ts';
import { deriveBatch } from '../../src/droplets/match.ts';
import { planView, printPlan } from '../../src/droplets/plan.ts';
import { createState } from '../../src/droplets/state.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { commandIo } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';
import { apiOf, batchOf, batchResponse, fastClock } from './batch-fixtures.ts';

const names = ['a', 'b', 'c', 'd'];
const at = '2026-01-01T00:00:00.000Z';
const attributes = { size: 's', image: 'i', region: 'r', extra: {} };
const shared: Partial<Batch> = { ...deriveBatch('x', names, attributes) };
const tags = shared.attributes?.extra.tags;
const like = { size_slug: 's', region: { slug: 'r' }, image: { slug: 'i' } };

async function rowsOf(droplets: readonly object[], batch: Partial<Batch> = {}, ...events: readonly LedgerEvent[]) {
  const state = createState(batchOf(names, { attributes, ...batch }));
  for (const event of events) state.apply(event);
  const api = apiOf(
    () => batchResponse(500),
    ({ path }) => {
      const name = new URL(path, 'https://api.example').searchParams.get('name');
      const shown = droplets.filter((one) => name === null || ('name' in one && one.name === name));
      return batchResponse(200, { droplets: shown, meta: { total: shown.length } });
    },
  );
  const io = commandIo({ ...testHost(), clock: fastClock() }, 'json');
  await printPlan(io, state, { api, loginHints: workLoginHints, maxPause: 900_000, onPause: async () => {} });
  expect(api.sent).toEqual([]);
  return io.host.json<{ readonly status: string; readonly id?: number }[]>();
}

it('a name is created, exists or differs', async () => {
  const rows = await rowsOf([
    { id: 1, name: 'a', ...like },
    { id: 2, name: 'b', ...like, size_slug: 'large\u001b[2J' },
    { id: 3, name: 'c', ...like },
    { id: 4, name: 'c', ...like },
    { id: 5, name: 'z', ...like },
  ]);
  expect(rows).toEqual([
    { name: 'a', status: 'exists', id: 1 },
    { name: 'b', status: 'differs', id: 2, difference: expect.stringMatching(/^size large\S* instead of s$/) },
    { name: 'c', status: 'differs', id: 3, difference: expect.stringMatching(/^2 /) },
    { name: 'd', status: 'create' },
  ]);
});

it('with --if-exists create every name is created', async () => {
  const rows = await rowsOf([{ id: 1, name: 'a', ...like }], { if_exists: 'create' });
  expect(rows.map(({ status }) => status)).toEqual(names.map(() => 'create'));
});

it('with --batch-id its own droplets exist, and others under the id differ', async () => {
  const rows = await rowsOf(
    [
      { id: 1, name: 'a', tags, size_slug: 'resized since' },
      { id: 2, name: 'b', tags: ['cloudctl:x', 'cloudctl:x:000000000000'] },
      { id: 3, name: 'c', ...like },
      { id: 4, name: 'z', tags },
      { id: 5, name: 'd', tags },
      { id: 6, name: 'd', tags },
    ],
    shared,
  );
  expect(rows).toEqual([
    { name: 'a', status: 'exists', id: 1 },
    { name: 'b', status: 'differs', id: 2, difference: expect.stringMatching(/000000000000/) },
    { name: 'c', status: 'exists', id: 3 },
    { name: 'd', status: 'differs', id: 5, difference: expect.stringMatching(/5, 6$/) },
    { name: 'z', status: 'differs', id: 4, difference: expect.any(String) },
  ]);
});

it('of a ledger, a droplet that was deleted since differs', async () => {
  const created = (id: number, name: string): LedgerEvent => ({
    event: 'created',
    at,
    group: id,
    rows: [{ id: String(id), name }],
  });
  const rows = await rowsOf([{ id: 1, name: 'a', ...like }], {}, created(1, 'a'), created(2, 'b'));
  expect(rows.map(({ status, id }) => [status, id])).toEqual([
    ['exists', 1],
    ['differs', 2],
    ['create', undefined],
    ['create', undefined],
  ]);
});

it('the columns of a plan are the documented ones', () => {
  expect(planView.columns.map(({ name }) => name)).toEqual(['Name', 'Status', 'ID', 'Difference']);
});
