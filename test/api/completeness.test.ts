import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trackCompleteness } from '../../src/api/completeness.ts';
import { apiServing, type ChangingList, idsOf, listThings, type Thing } from './changing-list.ts';

/** The sizes of the passes, small enough for a list of twenty to have many pages in each. */
const sizes: Readonly<Record<number, number>> = {
  200: 5,
  199: 4,
  197: 3,
  194: 7,
  190: 8,
  185: 5,
  179: 3,
  172: 4,
  164: 7,
};
const start = Date.UTC(2026, 0, 1);

interface Plan {
  readonly order: ChangingList['order'];
  readonly count: number;
  /** What others do before each page: a number is the place of what they delete, `+` creates. */
  readonly turns: readonly (readonly (number | '+')[])[];
  readonly pageSize: number;
  /** How many of the first things are as new as the list itself. */
  readonly young: number;
}

function shelfOf({ order, count, turns, young }: Plan): {
  readonly shelf: ChangingList;
  readonly steady: () => readonly number[];
} {
  let now = start;
  let last = count;
  const bornAt = (time: number): string => new Date(Math.floor(time / 1000) * 1000).toISOString();
  const things: Thing[] = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    created_at: bornAt(at >= count - young ? now : now - 86_400_000),
  }));
  const first = things.map(({ id }) => id);
  const queue = [...turns];
  const turn = (): void => {
    now += 300;
    for (const act of queue.shift() ?? []) {
      if (act === '+') things.push({ id: ++last, created_at: bornAt(now) });
      else if (things.length > 0) things.splice(act % things.length, 1);
    }
  };
  const shelf = {
    things,
    order,
    onNextPage: turn,
    now: () => Math.floor(now / 1000) * 1000,
    sizeOf: (asked: number) => sizes[asked] ?? asked,
  };
  return { shelf, steady: () => first.filter((id) => things.some((thing) => thing.id === id)) };
}

async function read(plan: Plan) {
  const { shelf, steady } = shelfOf(plan);
  const api = apiServing(shelf);
  const ids = await idsOf(listThings(api, { pageSize: plan.pageSize }));
  return { ids, steady: steady(), requests: api.requestedPaths.length };
}

const still: Plan = { order: 'oldest first', count: 20, turns: [], pageSize: 6, young: 0 };

describe('a list that holds still', () => {
  it.each(['oldest first', 'newest first'] as const)('is read once, %s', async (order) => {
    expect(await read({ ...still, order })).toMatchObject({ ids: { length: 20 }, requests: 4 });
  });

  it('is read twice when something in it may be newer than the list', async () => {
    const { ids, requests } = await read({ ...still, young: 1 });
    expect([ids.length, requests]).toEqual([20, 8]);
  });

  it('is whole after two readings where the server cuts all pages at the same places', async () => {
    const { shelf } = shelfOf({ ...still, young: 1 });
    const api = apiServing({ ...shelf, sizeOf: () => 5 });
    expect(await idsOf(listThings(api, { pageSize: 5 }))).toHaveLength(20);
    expect(api.requestedPaths).toHaveLength(8);
  });
});

describe('a list that changes while it is read', () => {
  it.each([
    ['grows at its end', 'oldest first', ['+'], 5],
    ['grows at its beginning', 'newest first', ['+', '+'], 5],
    ['loses one that is still to come, while one comes', 'newest first', [19, '+'], 10],
  ] as const)('and %s costs no more requests than its pages, or one more reading', async (_what, order, turn, most) => {
    const { ids, steady, requests } = await read({ ...still, order, turns: [turn] });
    expect(ids).toEqual(expect.arrayContaining([...steady]));
    expect(requests).toBeLessThanOrEqual(most);
  });

  it.each([
    ['a deletion behind us', [[0]]],
    ['a deletion that a creation hides from the total', [[0, '+']]],
    ['several of them', [[0, '+'], [], [1, 0, '+', '+']]],
    ['the last page deleted away', [[], [], [0, 0, 0, 0, 0]]],
    ['all but nothing left', [Array.from({ length: 18 }, () => 0)]],
  ] as const)('by %s loses none that stayed', async (_what, turns) => {
    const { ids, steady } = await read({ ...still, turns });
    expect(ids).toEqual(expect.arrayContaining([...steady]));
  });

  it('gives whatever stayed exactly once, and never cries wolf', async () => {
    const act = fc.oneof(fc.nat(30), fc.constant('+' as const));
    const plan = fc.record({
      order: fc.constantFrom('oldest first' as const, 'newest first' as const),
      count: fc.nat(25),
      turns: fc.array(fc.array(act, { maxLength: 3 }), { maxLength: 12 }),
      pageSize: fc.integer({ min: 1, max: 9 }),
      young: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const { ids, steady } = await read({ ...given, young: Math.min(given.young, given.count) });
        expect(new Set(ids).size).toBe(ids.length);
        expect(steady.filter((id) => !ids.includes(id))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read to its end in pages of one item, although more than ten are created meanwhile', async () => {
    const turns: Plan['turns'] = [
      ['+', '+', '+'],
      ['+', '+'],
      ['+', '+'],
      [],
      ['+', 0],
      ['+'],
      [],
      ['+', 24, '+'],
      ['+', '+'],
      ['+'],
    ];
    const { ids, steady } = await read({ ...still, order: 'newest first', count: 8, turns, pageSize: 1, young: 0 });
    expect(ids).toEqual(expect.arrayContaining([...steady]));
  });

  it('may miss as many items twice, by two changes that the totals do not show', async () => {
    const turns: Plan['turns'] = [[], ['+'], ['+', 0, '+'], [0], [0, '+'], [], [22], [], [], ['+', 0]];
    const { ids, steady } = await read({ ...still, order: 'newest first', count: 22, turns });
    expect(ids).toEqual(expect.arrayContaining([...steady]));
  });

  it('by one that is deleted at its beginning in each reading is whole before it is given up', async () => {
    const created_at = new Date(start - 86_400_000).toISOString();
    const things = Array.from({ length: 450 }, (_, at) => ({ id: at + 1, created_at }));
    let reads = 1;
    const turn = (): void => {
      reads += 1;
      if (reads % 3 === 0) things.shift();
    };
    const api = apiServing({ things, order: 'oldest first', onNextPage: turn, now: () => start });
    expect(await idsOf(listThings(api, { pageSize: 200 }))).toEqual(expect.arrayContaining(things.map(({ id }) => id)));
  });

  it('without end is given up with an error, never silence', async () => {
    // Each pass is cut where the one before was: nothing can be known of what is between two pages.
    const { shelf } = shelfOf({ ...still, turns: Array.from({ length: 100 }, () => [19, '+'] as const) });
    const ids = idsOf(listThings(apiServing({ ...shelf, sizeOf: () => 5 }), { pageSize: 5 }));
    await expect(ids).rejects.toMatchObject({ code: 'incomplete_list', detail: expect.stringMatching(/\b9\b/) });
  });
});

it.each([
  [[4, 4], [4, 4], 'short'],
  [[4, 4], [5, 5], 'again'],
  [[4, 4], [4, 5], 'again'],
  [[4, 5], [5, 5], 'again'],
] as const)('three items under the totals %j and then %j are %s', (before, now, verdict) => {
  const survey = trackCompleteness();
  const pass = ([first, last]: readonly [number, number]): void => {
    survey.beginPage(first);
    for (const id of ['1', '2']) survey.addItem(id, false);
    survey.endPage(false);
    survey.beginPage(last);
    survey.addItem('3', false);
    survey.endPage(true);
  };
  pass(before);
  expect(survey.result()).toBe('again');
  survey.beginPass();
  pass(now);
  expect(survey.result()).toBe(verdict);
});
