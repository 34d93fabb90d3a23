import { describe, expect, it, test } from 'vitest';
import type { LedgerEvent } from '../../src/droplets/events.ts';
import { type BatchState, createState, describeSkipped } from '../../src/droplets/state.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { batchOf } from './batch-fixtures.ts';

describe('batch ledger state', () => {
  const at = '2026-01-01T00:00:00.000Z';

  function rosterOf(names: readonly string[], ...events: readonly LedgerEvent[]): BatchState {
    const roster = createState(batchOf(names));
    for (const event of events) roster.apply(event);
    return roster;
  }

  const sending = (group: number, ...names: string[]): LedgerEvent => ({
    event: 'sending',
    at,
    group,
    names,
    server_date: at,
  });
  const created = (group: number, ...rows: { name: string; id: number }[]): LedgerEvent => ({
    event: 'created',
    at,
    group,
    rows: rows.map(({ name, id }) => ({ name, id: String(id) })),
  });

  describe('the roster of a batch', () => {
    it('wants every name at first', () => {
      const roster = rosterOf(['a', 'b']);
      expect(roster.missing()).toEqual(['a', 'b']);
      expect([...roster.rows('not sent: x')]).toEqual([
        { name: 'a', status: 'failed', error: 'not sent: x' },
        { name: 'b', status: 'failed', error: 'not sent: x' },
      ]);
    });

    it('is in doubt about a name once, with the request it was last sent in', () => {
      const roster = rosterOf(['a', 'b', 'c'], sending(1, 'a', 'b'), sending(2, 'b', 'c'));
      expect(roster.uncertainGroups().map(({ group, names }) => [group, names])).toEqual([
        [1, ['a']],
        [2, ['b', 'c']],
      ]);
    });

    it('is in doubt about what an earlier run called unknown, whatever else the ledger lacks', () => {
      const roster = rosterOf(['a', 'b'], { event: 'unknown', at, group: 4, names: ['a'], error: 'x', resend: true });
      expect(roster.uncertainGroups()).toEqual([
        { group: 4, names: ['a'], sentAfter: undefined, sentAt: undefined, resend: true, isFinal: false, error: 'x' },
      ]);
    });

    it('is in doubt about what was sent and has no result', () => {
      const roster = rosterOf(['a', 'b', 'c'], sending(1, 'a', 'b'));
      expect(roster.missing()).toEqual(['c']);
      expect(roster.uncertainGroups()).toEqual([
        {
          group: 1,
          names: ['a', 'b'],
          sentAfter: Date.parse(at),
          sentAt: Date.parse(at),
          resend: true,
          isFinal: false,
        },
      ]);
      expect(roster.rowAt(roster.positionOf('a'))).toMatchObject({ status: 'unknown' });
    });

    it('knows when a group was sent last, by our clock: so long its request may be on its way', () => {
      const later = { ...sending(1, 'a'), at: '2026-01-01T00:01:00.000Z' };
      const error = { event: 'unknown', at, group: 1, names: ['a'], error: 'x', resend: true } as const;
      const roster = rosterOf(['a'], sending(1, 'a'), later, error);
      expect(roster.uncertainGroups()).toMatchObject([{ sentAt: Date.parse('2026-01-01T00:01:00.000Z') }]);
    });

    it('does not own a droplet of another run, so that a resumed batch finds it each time', () => {
      const baseline = (existing: Record<string, readonly string[]>) => ({ event: 'baseline', at, existing }) as const;
      const roster = rosterOf(['a', 'b'], baseline({}), baseline({ b: ['8'] }));
      expect(roster.taken()).toEqual(['b']);
      expect(roster.ownsId('8')).toBe(false);
    });

    it('does not own a droplet of a name that several droplets have', () => {
      const row = { event: 'created', at, group: 1, rows: [{ name: 'a', id: '7' }] } as const;
      const several = { event: 'unknown', at, group: 2, names: ['a'], error: '7, 8', resend: false } as const;
      const roster = rosterOf(['a'], row, several);
      expect(roster.ownsId('7')).toBe(false);
      expect(roster.uncertainGroups()).toMatchObject([{ group: 2, names: ['a'] }]);
    });

    it('keeps the time before the first request of a group that was sent again', () => {
      const later: LedgerEvent = {
        event: 'sending',
        at,
        group: 1,
        names: ['a'],
        server_date: '2026-01-01T01:00:00.000Z',
      };
      expect(rosterOf(['a'], sending(1, 'a'), later).uncertainGroups()[0]?.sentAfter).toBe(Date.parse(at));
    });

    it('forbids to send the rest of a request of which part is there', () => {
      const roster = rosterOf(['a', 'b'], sending(1, 'a', 'b'), created(1, { name: 'a', id: 5 }));
      expect(roster.uncertainGroups()).toMatchObject([{ names: ['b'], resend: false }]);
      expect(roster.ownsId('5')).toBe(true);
      expect(roster.ownsId('6')).toBe(false);
    });

    it('wants again what certainly failed', () => {
      const roster = rosterOf(['a'], sending(1, 'a'), { event: 'failed', at, group: 1, names: ['a'], error: 'no' });
      expect(roster.missing()).toEqual(['a']);
      expect(roster.uncertainGroups()).toEqual([]);
      expect(roster.rowAt(roster.positionOf('a'))).toEqual({ name: 'a', status: 'failed', error: 'no' });
    });

    describe('a name that a later baseline contains', () => {
      const first: LedgerEvent = { event: 'baseline', at, existing: {} };
      const later: LedgerEvent = { event: 'baseline', at, existing: { a: ['1'] } };

      it('is not sent, and fails with the id of the droplet', () => {
        const state = rosterOf(['a', 'b'], first, later);
        expect(state.baseline()?.existing).toEqual({ a: ['1'] });
        expect([...state.rows()][0]).toEqual({ name: 'a', status: 'failed', id: '1', error: expect.any(String) });
        expect([state.missing(), state.taken()]).toEqual([['b'], ['a']]);
        expect(state.counts()).toMatchObject({ failed: 1, missing: 1 });
      });

      it('is sent again when the next baseline lacks it', () => {
        expect(rosterOf(['a'], first, later, first).missing()).toEqual(['a']);
      });

      it('is skipped with --if-exists skip', () => {
        const state = createState(batchOf(['a'], { if_exists: 'skip' }));
        for (const event of [first, later]) state.apply(event);
        expect([...state.rows()]).toEqual([{ name: 'a', status: 'skipped', id: '1' }]);
      });
    });

    it('skips what was there before when it is told to', () => {
      const roster = createState(batchOf(['a', 'b', 'c'], { if_exists: 'skip' }));
      roster.apply({ event: 'baseline', at, existing: { b: ['4', '5'], c: ['1'] } });
      expect([...roster.rows()].slice(1)).toEqual([
        { name: 'b', status: 'skipped', id: '4' },
        { name: 'c', status: 'skipped', id: '1' },
      ]);
      expect(roster.missing()).toEqual(['a']);
    });

    it('tells which names need no request', () => {
      const roster = createState(batchOf(['a', 'b', 'c', 'd'], { if_exists: 'skip' }));
      roster.apply({ event: 'baseline', at, existing: { b: ['4'] } });
      for (const event of [sending(1, 'a', 'c'), created(1, { name: 'a', id: 1 })]) roster.apply(event);
      expect([0, 1, 2, 3].map((place) => roster.isPresent(place))).toEqual([true, true, false, false]);
    });

    it('forgets why a name failed once it is sent again', () => {
      const roster = rosterOf(['a'], sending(1, 'a'), {
        event: 'failed',
        at,
        group: 1,
        names: ['a'],
        error: 'the limit',
      });
      expect(roster.rowAt(roster.positionOf('a'))).toEqual({ name: 'a', status: 'failed', error: 'the limit' });
      roster.apply(sending(2, 'a'));
      expect(roster.rowAt(roster.positionOf('a'))).toEqual({
        name: 'a',
        status: 'unknown',
        error: expect.stringMatching(/./),
      });
    });

    it('numbers groups on from those it has', () => {
      const roster = rosterOf(['a', 'b'], sending(7, 'a'));
      expect([roster.nextGroup(), roster.nextGroup()]).toEqual([8, 9]);
    });

    it('counts every name once', () => {
      const roster = rosterOf(
        ['a', 'b', 'c', 'd'],
        sending(1, 'a'),
        created(1, { name: 'a', id: 1 }),
        sending(2, 'b'),
        sending(3, 'c'),
        { event: 'failed', at, group: 3, names: ['c'], error: 'no' },
      );
      expect(roster.counts()).toEqual({ created: 1, unknown: 1, failed: 1, missing: 1, skipped: 0 });
    });

    it('holds names that objects know as well', () => {
      const roster = rosterOf(['constructor', 'toString'], sending(1, 'constructor'));
      expect(roster.missing()).toEqual(['toString']);
    });
  });
});

describe('skipped existing droplet row', () => {
  /** The rows of a batch that skips these names. */
  function skipped(names: readonly string[], differences: Readonly<Record<string, string>> = {}) {
    const state = createState(batchOf(names, { if_exists: 'skip' }));
    const existing = Object.fromEntries(names.map((name, at) => [name, name === '__proto__' ? [] : [String(at + 1)]]));
    state.apply({ event: 'baseline', at: '2026-01-01T00:00:00Z', existing, differences });
    return [...state.rows()];
  }

  const difference = 'size s-2vcpu-4gb instead of s-1vcpu-1gb';

  test('a skipped row has the difference of its droplet', () => {
    expect(skipped(['a', 'b', '__proto__'], { a: difference })).toEqual([
      { name: 'a', status: 'skipped', id: '1', difference },
      { name: 'b', status: 'skipped', id: '2' },
      { name: '__proto__', status: 'skipped' },
    ]);
    expect(skipped(['a'])[0]).not.toHaveProperty('difference');
  });

  test('the differences are one sentence, and no difference is none', () => {
    expect(describeSkipped([...skipped(['b']), { status: 'created' }])).toBeUndefined();
    const names = Array.from({ length: 22 }, (_, at) => `a${at}`);
    expectGolden('droplets', describeSkipped(skipped(['a'], { a: difference })) ?? '', 'one');
    expect(describeSkipped(skipped(names, Object.fromEntries(names.map((name) => [name, difference]))))).toContain(
      '2 more',
    );
  });
});
