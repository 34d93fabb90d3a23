import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultTimeLimits } from '../../src/droplets/times.ts';
import { type GroupLookup, nextStep, type Step, type Uncertain } from '../../src/droplets/uncertain.ts';

const second = 1_000;

/** A request of two names whose connection ended at 0. */
function doubt(changes: Partial<Uncertain> = {}): Uncertain {
  return {
    names: ['a', 'b'],
    uncertainSince: 0,
    closedAt: 0,
    sends: 1,
    resend: true,
    marked: false,
    lookups: [],
    ...changes,
  };
}

/** What was seen at a second: `a1 b2` are ids by name, `a1@90` was created at the 90th second of the server. */
function look(at: number, seen: string, conclusive = true): GroupLookup {
  const found = new Map<string, { id: string; createdAt: number }[]>();
  for (const word of seen.split(' ').filter((one) => one !== '')) {
    const [, name = '', id, time = '0'] = /^([a-z])(\d+)(?:@(\d+))?$/.exec(word) ?? [];
    found.set(name, [...(found.get(name) ?? []), { id: String(id), createdAt: Number(time) * second }]);
  }
  return { at: at * second, conclusive, found };
}

function told(verdict: Step): string {
  if (verdict.kind === 'look-up') return `look at ${verdict.at / second}`;
  if (verdict.kind === 'wait') return `wait until ${verdict.until / second}`;
  if (verdict.kind === 'send') return 'send';
  const ids = [...verdict.ids].map(([name, id]) => `${name}${id}`).join(' ');
  return verdict.kind === 'adopt' ? `adopt ${ids}` : `unknown ${ids}${verdict.resend ? '(resend)' : ''}`.trim();
}

const open = { closedAt: undefined };

describe('the next step about a group in doubt', () => {
  const rows: readonly (readonly [string, Partial<Uncertain>, readonly GroupLookup[], number, string])[] = [
    ['is to look at once', {}, [], 0, 'look at 0'],
    ['is to take one droplet for each name', {}, [look(0, 'a1 b2')], 0, 'adopt a1 b2'],
    ['is not to believe an early look that found nothing', {}, [look(0, '')], 0, 'look at 15'],
    [
      'is a second look a quarter of a minute after the first late one',
      {},
      [look(0, ''), look(15, '')],
      15,
      'look at 30',
    ],
    ['is not to count looks that are close together', {}, [look(15, ''), look(16, '')], 16, 'look at 30'],
    ['is to send again after two late looks found nothing', {}, [look(0, ''), look(15, ''), look(30, '')], 30, 'send'],
    ['is to give up after three sends', { sends: 3 }, [look(15, ''), look(30, '')], 30, 'unknown (resend)'],
    ['is not to send again what was partly done', { resend: false }, [look(15, ''), look(30, '')], 30, 'unknown'],
    ['is to look again for the rest', {}, [look(0, 'a1')], 0, 'look at 15'],
    ['is to take what was found within a minute', {}, [look(0, 'a1'), look(60, 'a1')], 60, 'unknown a1'],
    ['is to take the rest when it appears', {}, [look(0, 'a1'), look(45, 'a1 b2')], 45, 'adopt a1 b2'],
    ['is never to send again what was once seen', {}, [look(0, 'a1'), look(30, ''), look(60, '')], 60, 'unknown'],
    ['is not to guess between two', {}, [look(0, 'a1 a2 b3')], 0, 'unknown'],
    ['is not to take droplets that were not made together', {}, [look(0, 'a1@0 b2@61')], 0, 'unknown'],
    ['is to take them a minute apart', {}, [look(0, 'a1@0 b2@60')], 0, 'adopt a1 b2'],
    ['is to take marked ones made at any time', { marked: true }, [look(0, 'a1@0 b2@999')], 0, 'adopt a1 b2'],
    ['is to look again when a look was not conclusive', {}, [look(0, '', false)], 0, 'look at 15'],
    ['is to look a third time', {}, [look(0, '', false), look(15, '', false)], 15, 'look at 30'],
    [
      'is to stay undecided after three inconclusive looks',
      {},
      [look(0, '', false), look(15, '', false), look(30, '', false)],
      30,
      'unknown (resend)',
    ],
    ['is not to trust an inconclusive look that found all', {}, [look(0, 'a1 b2', false)], 0, 'look at 15'],
    ['is to look while the answer is awaited', open, [look(0, '')], 0, 'look at 15'],
    [
      'is not to send again while the answer is awaited',
      open,
      [look(15, ''), look(30, ''), look(45, '')],
      45,
      'look at 60',
    ],
    ['is to let the answer decide a little longer', open, [look(0, 'a1 b2')], 0, 'wait until 10'],
    ['is to take what was found when no answer came then', open, [look(0, 'a1 b2')], 10, 'adopt a1 b2'],
    ['is to wait on while two could be meant', open, [look(0, 'a1 a2 b3')], 0, 'look at 15'],
    ['is to give up an answer after five minutes', open, [look(0, ''), look(299, '')], 300, 'unknown (resend)'],
    ['is to take what was found by then', open, [look(0, ''), look(299, 'a1')], 300, 'unknown a1'],
    ['is not to guess by then', open, [look(0, ''), look(299, 'a1 a2')], 300, 'unknown'],
    [
      'is to begin again when the connection ends late',
      { closedAt: 100 * second },
      [look(0, ''), look(15, ''), look(30, '')],
      100,
      'look at 115',
    ],
    [
      'is not to count looks from before the end as inconclusive ones',
      { closedAt: 50 * second },
      [look(0, '', false), look(15, '', false), look(30, '', false)],
      50,
      'look at 50',
    ],
  ];

  it.each(rows)('%s', (_what, changes, looks, at, expected) => {
    expect(told(nextStep(doubt({ ...changes, lookups: looks }), at * second, defaultTimeLimits))).toBe(expected);
  });

  it('names the ids when it does not guess', () => {
    const verdict = nextStep(doubt({ lookups: [look(0, 'a1 a2 b3')] }), 0, defaultTimeLimits);
    expect(verdict).toMatchObject({ error: expect.stringContaining('(a: 1, 2)') });
  });
});

const seen = fc
  .array(fc.constantFrom('a1', 'a2', 'b3', 'b4', 'b5@70'), { maxLength: 4 })
  .map((words) => [...new Set(words)].join(' '));
const history = fc.array(fc.tuple(fc.nat(40), seen, fc.boolean()), { maxLength: 8 }).map((steps) => {
  let at = 0;
  return steps.map(([pause, words, conclusive]) => {
    at += pause;
    return look(at, words, conclusive);
  });
});
const anyDoubt = fc.record({
  closedAt: fc.option(
    fc.nat(100).map((at) => at * second),
    { nil: undefined },
  ),
  sends: fc.integer({ min: 1, max: 4 }),
  resend: fc.boolean(),
  marked: fc.boolean(),
  looks: history,
});

describe('whatever was seen', () => {
  const judged = (one: Partial<Uncertain>) => {
    const whole = doubt(one);
    const now = Math.max(whole.lookups.at(-1)?.at ?? 0, whole.closedAt ?? 0);
    return { verdict: nextStep(whole, now, defaultTimeLimits), whole, now };
  };

  it('it is sent again only when the connection has ended, nothing was ever seen, and two late looks were conclusive', () => {
    fc.assert(
      fc.property(anyDoubt, (one) => {
        const { verdict, whole } = judged(one);
        if (verdict.kind !== 'send') return;
        expect(whole.closedAt).toBeDefined();
        expect(whole.resend).toBe(true);
        expect(whole.sends).toBeLessThan(3);
        expect(whole.lookups.every(({ found }) => found.size === 0)).toBe(true);
        const late = whole.lookups.filter(
          ({ at, conclusive }) => conclusive && at >= (whole.closedAt ?? 0) + defaultTimeLimits.settleDelay,
        );
        expect((late.at(-1)?.at ?? 0) - (late[0]?.at ?? 0)).toBeGreaterThanOrEqual(defaultTimeLimits.lookupInterval);
      }),
      { numRuns: 3_000 },
    );
  });

  it('a droplet is taken only when the last look was conclusive and saw no other for its name', () => {
    fc.assert(
      fc.property(anyDoubt, (one) => {
        const { verdict, whole } = judged(one);
        if (verdict.kind !== 'adopt' && verdict.kind !== 'unknown') return;
        const last = whole.lookups.at(-1);
        for (const [name, id] of verdict.ids) {
          expect(last?.conclusive).toBe(true);
          expect(last?.found.get(name)?.map((sighting) => sighting.id)).toEqual([id]);
        }
        if (verdict.kind === 'adopt') expect([...verdict.ids.keys()].sort()).toEqual(['a', 'b']);
      }),
      { numRuns: 3_000 },
    );
  });

  it('what was seen in part is never to be sent again by a later run', () => {
    fc.assert(
      fc.property(anyDoubt, (one) => {
        const { verdict, whole } = judged({ ...one, lookups: one.looks?.filter(({ conclusive }) => conclusive) ?? [] });
        if (verdict.kind !== 'unknown' || !verdict.resend) return;
        expect(whole.lookups.every(({ found }) => found.size === 0)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('there is an end: steps that are waited for lie ahead or are due, and looks come to a verdict', () => {
    fc.assert(
      fc.property(anyDoubt, seen, (one, from) => {
        let { verdict, whole, now } = judged(one);
        for (let steps = 0; verdict.kind === 'look-up' || verdict.kind === 'wait'; steps++) {
          expect(steps).toBeLessThan(40);
          now = Math.max(now, verdict.kind === 'look-up' ? verdict.at : verdict.until);
          if (verdict.kind === 'look-up') whole = { ...whole, lookups: [...whole.lookups, look(now / second, from)] };
          verdict = nextStep(whole, now, defaultTimeLimits);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a droplet that differs from the request, or is older', () => {
  const different = { different: new Map([['a', [{ id: '7', difference: 'region nyc3 instead of nyc1' }]]]) };
  const older = { older: new Map([['a', ['7']]]) };
  it.each([
    ['at the last lookup', [look(0, ''), look(15, ''), { ...look(30, ''), ...different }]],
    ['at the first lookup alone: the others may have read a list that lags', [{ ...look(0, ''), ...different }]],
    ['at an inconclusive lookup alone', [{ ...look(0, '', false), ...different }]],
    ['and is older, at the first lookup alone', [{ ...look(0, ''), ...older }]],
  ])('%s, is never a reason to send again', (_when, seen) => {
    const lookups = [...seen, look(15, ''), look(30, '')].toSorted((left, right) => left.at - right.at);
    const step = nextStep(doubt({ lookups }), 30 * second, defaultTimeLimits);
    expect(step).toMatchObject({ kind: 'unknown', error: expect.stringContaining('a: 7') });
  });
});
