import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FaultMatch, type FaultRequest, type FaultSpec, matchesFault } from '../../../src/sandbox/faults/fault.ts';
import { createFaultList } from '../../../src/sandbox/faults/fault-list.ts';

const CREATE: FaultRequest = { method: 'POST', path: '/v2/droplets', routePath: '/v2/droplets' };

/** The id of the fault that applied to each of `count` equal requests; 0 for none. */
function met(specs: readonly FaultSpec[], count: number): readonly number[] {
  const faults = createFaultList();
  for (const spec of specs) faults.add(spec);
  return Array.from({ length: count }, () => faults.takeFaults(CREATE)[0]?.id ?? 0);
}

function reset(nth?: number, times?: number): FaultSpec {
  return {
    match: { path: '/v2/droplets' },
    action: 'reset',
    ...(nth === undefined ? {} : { nth }),
    ...(times === undefined ? {} : { times }),
  };
}

describe('a fault applies from its nth match to as many matches as `times`', () => {
  it.each<[string, FaultSpec[], number[]]>([
    ['one by default, the first', [reset()], [1, 0, 0, 0, 0]],
    ['the third', [reset(3)], [0, 0, 1, 0, 0]],
    ['the first two', [reset(1, 2)], [1, 1, 0, 0, 0]],
    ['the second to the fourth', [reset(2, 3)], [0, 1, 1, 1, 0]],
    ['nothing within sight', [reset(9)], [0, 0, 0, 0, 0]],
    ['the first that is due, the next one after it', [reset(), reset()], [1, 2, 0, 0, 0]],
    ['in list order, not in the order of nth', [reset(2, 2), reset(1, 2)], [2, 1, 1, 2, 0]],
    ['each with its own counter', [reset(2), reset(4)], [0, 1, 0, 2, 0]],
  ])('%s', (_what, specs, expected) => expect(met(specs, 5)).toEqual(expected));

  it('a single fault applies to the matches from nth to nth + times - 1', () => {
    const small = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(small, small, fc.integer({ min: 0, max: 80 }), (nth, times, count) => {
        const expected = Array.from({ length: count }, (_, at) => (at + 1 >= nth && at + 1 < nth + times ? 1 : 0));
        expect(met([reset(nth, times)], count)).toEqual(expected);
      }),
    );
  });

  it('each of any number of faults applies at most `times` times, not before its nth match, with correct counters', () => {
    const spec = fc.record({ nth: fc.integer({ min: 1, max: 8 }), times: fc.integer({ min: 1, max: 8 }) });
    fc.assert(
      fc.property(fc.array(spec, { maxLength: 5 }), fc.integer({ min: 0, max: 60 }), (shapes, count) => {
        const faults = createFaultList();
        for (const { nth, times } of shapes) faults.add(reset(nth, times));
        const hits = Array.from({ length: count }, () => faults.takeFaults(CREATE)[0]?.id ?? 0);
        for (const { id, nth, times, matched, applied, remaining } of faults.list()) {
          expect(matched).toBe(count);
          expect(applied).toBe(hits.filter((hit) => hit === id).length);
          expect(remaining).toBe(times - applied);
          expect(applied).toBeLessThanOrEqual(times);
          const first = hits.indexOf(id);
          expect(first === -1 || first + 1 >= nth).toBe(true);
        }
        // While a fault is due, every matching request gets one.
        hits.forEach((hit, at) => {
          const earlier = (id: number): number => hits.slice(0, at).filter((one) => one === id).length;
          const due = shapes.findIndex(({ nth, times }, index) => at + 1 >= nth && earlier(index + 1) < times);
          expect(hit).toBe(due + 1);
        });
      }),
    );
  });

  it('a change of the handling applies in addition to another fault, once for each kind', () => {
    const faults = createFaultList();
    const match = { path: '/v2/droplets' };
    faults.add({ match, action: 'lag_lists', delay: 9, times: 3 });
    faults.add({ match, action: 'lag_lists', delay: 8 });
    faults.add({ match, action: 'normalize_attributes', times: 2 });
    faults.add(reset());
    faults.add(reset());
    const taken = Array.from({ length: 5 }, () => faults.takeFaults(CREATE).map(({ id }) => id));
    expect(taken).toEqual([[1, 3, 4], [1, 3, 5], [1], [2], []]);
  });

  it('requests that do not match are not counted, and clearing resets the counters', () => {
    const faults = createFaultList();
    faults.add(reset(2));
    faults.takeFaults({ method: 'GET', path: '/v2/actions' });
    faults.takeFaults(CREATE);
    expect(faults.list()).toEqual([
      {
        id: 1,
        match: { path: '/v2/droplets' },
        action: 'reset',
        nth: 2,
        times: 1,
        matched: 1,
        applied: 0,
        remaining: 1,
      },
    ]);
    faults.clear();
    expect(faults.list()).toEqual([]);
    expect(faults.takeFaults(CREATE)).toEqual([]);
    expect(faults.add(reset()).id).toBe(2);
  });
});

describe('a fault applies to requests that match all its conditions', () => {
  const refresh: FaultRequest = { method: 'POST', path: '/v1/oauth/token', grantType: 'refresh_token' };
  const show: FaultRequest = { method: 'GET', path: '/v2/droplets/7', routePath: '/v2/droplets/{id}' };
  it.each<[FaultMatch, FaultRequest, boolean]>([
    [{ method: 'POST', path: '/v2/droplets' }, CREATE, true],
    [{ path: '/v2/droplets' }, CREATE, true],
    [{ method: 'GET', path: '/v2/droplets' }, CREATE, false],
    [{ method: 'POST' }, CREATE, true],
    [{ path: '/v2/droplet' }, CREATE, false],
    [{ path: '/v2/droplets' }, show, false],
    [{ path: '/v2/droplets*' }, show, true],
    [{ path: '/v2/droplets*' }, CREATE, true],
    [{ path: '/v2/droplets/*' }, CREATE, false],
    [{ path: '*' }, show, true],
    [{ path: '/v2/droplets/{id}' }, show, true],
    [{ path: '/v2/droplets/7' }, show, true],
    [{ path: '/v2/*/7' }, show, false],
    [{ grant_type: 'refresh_token' }, refresh, true],
    [{ grant_type: 'authorization_code' }, refresh, false],
    [{ grant_type: 'refresh_token' }, CREATE, false],
    [{ method: 'POST', path: '/v1/oauth/token', grant_type: 'refresh_token' }, refresh, true],
  ])('%j and %j: %s', (match, sign, expected) => expect(matchesFault(match, sign)).toBe(expected));
});
