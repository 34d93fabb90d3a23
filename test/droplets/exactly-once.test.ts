import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Kill, lag, type Scenario, simulate, type Trouble } from './simulation.ts';

const calm: Scenario = {
  names: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'],
  batchSize: 2,
  concurrency: 2,
  tagged: false,
  honoured: true,
  troubles: [],
  badReads: [],
  kills: [],
  noise: 0,
};

/**
 * What a server may do. Of a request it carries out something is seen at the latest when the second lookup is made,
 * half a minute after its connection ended: nobody could tell a later one from one that was lost.
 */
const trouble: fc.Arbitrary<Trouble> = fc
  .record({
    commit: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
    end: fc.constantFrom('answer', 'cut', '500', 'garbage', '429', 'unsent'),
    after: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 200_000 })),
    hidden: fc.integer({ min: 0, max: 40_000 }),
    stuck: fc.boolean(),
  })
  .map((one) => ({ ...one, commit: one.commit === undefined ? undefined : Math.min(one.commit, one.after + lag) }));

const scenario: fc.Arbitrary<Scenario> = fc.record({
  names: fc.integer({ min: 1, max: 12 }).map((count) => Array.from({ length: count }, (_, at) => `n-${at}`)),
  batchSize: fc.integer({ min: 1, max: 4 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  tagged: fc.boolean(),
  honoured: fc.boolean(),
  troubles: fc.array(trouble, { maxLength: 8 }),
  badReads: fc.array(fc.nat(30), { maxLength: 5 }),
  kills: fc.array(
    fc.record({
      at: fc.integer({ min: 1, max: 20 }),
      line: fc.constantFrom('lost', 'torn', 'whole'),
      down: fc.integer({ min: 0, max: 20_000 }),
      power: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  noise: fc.nat(12),
});

async function held(one: Scenario): Promise<readonly string[]> {
  const { roster, made } = await simulate(one);
  return [...roster.rows()].flatMap((row) => {
    const ids = made.get(row.name) ?? [];
    if (ids.length > 1) return [`${row.name} was created ${ids.length} times`];
    if (row.status === 'created' && row.id !== String(ids[0]))
      return [`${row.name} is ${ids[0]} and was told as ${row.id}`];
    if (row.status === 'failed' || row.status === 'skipped') return [`${row.name} was left as ${row.status}`];
    return [];
  });
}

describe('whatever the server does and whenever the process is killed', () => {
  it('no name is created twice, and none is missing that is not unknown', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (one) => {
        expect(await held(one)).toEqual([]);
      }),
      { numRuns: Number(process.env.CLOUDCTL_TEST_RUNS ?? 200) },
    );
  });

  it('every name is there in the end when the lists can be read', { timeout: 120_000 }, async () => {
    const quiet = scenario.map((one) => ({ ...one, badReads: [], troubles: one.troubles.map(answered) }));
    await fc.assert(
      fc.asyncProperty(quiet, async (one) => {
        const { roster } = await simulate(one);
        expect([...roster.rows()].filter(({ status }) => status !== 'created')).toEqual([]);
      }),
      { numRuns: Number(process.env.CLOUDCTL_TEST_RUNS ?? 100) },
    );
  });

  const ends: readonly Trouble['end'][] = ['answer', 'cut', '500', 'garbage', '429', 'unsent'];
  const lines = ['lost', 'torn', 'whole'] as const;
  const fine: Trouble = { commit: 5, end: 'answer', after: 10, hidden: 0 };
  const deaths = lines.flatMap((line) => [false, true].map((power) => ({ line, power, down: 100 })));
  it.each(ends.flatMap((end) => deaths.map((death) => [end, death] as const)))(
    'an answer %s and a death at each line in turn, %j',
    async (end, death) => {
      const kills = Array.from({ length: 18 }, (_, at): Kill => ({ at: at + 1, ...death }));
      for (const kill of kills) {
        for (const commit of [undefined, 5]) {
          const trouble = { commit, end, after: 10, hidden: 0 };
          for (const troubles of [[trouble], [fine, fine, trouble]])
            expect(await held({ ...calm, troubles, kills: [kill] })).toEqual([]);
        }
      }
    },
  );
});

/** All names of a request are seen within the time in which they are looked for. */
function answered(one: Trouble): Trouble {
  return { ...one, hidden: Math.min(one.hidden, 20_000) };
}
