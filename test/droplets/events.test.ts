import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeEvent, encodeEvent, stamp } from '../../src/droplets/events.ts';
import { batchOf } from './batch-fixtures.ts';

it('a clock has its text at any time, whatever it showed before', () => {
  const second = 1_790_000_000_000;
  const near = fc.integer({ min: second - 2_000, max: second + 2_000 });
  const any = fc.date({ noInvalidDate: true }).map((date) => date.getTime());
  const times = fc.array(
    fc.oneof(
      near,
      any,
      fc.constant(0),
      near.map((ms) => ms + 0.5),
    ),
    { minLength: 2 },
  );
  fc.assert(
    fc.property(times, (shown) => {
      let now = 0;
      const clock = { now: () => now, sleep: async () => {} };
      for (const time of shown) {
        now = time;
        expect(stamp({ event: 'deleted', rows: [] }, clock).at).toBe(new Date(time).toISOString());
      }
    }),
  );
});

it('what is not known is left out of a line', () => {
  const sending = { event: 'sending', at: '1970-01-01T00:00:00.000Z', group: 1, names: ['a'] } as const;
  expect(encodeEvent({ ...sending, server_date: undefined })).toBe(encodeEvent(sending));
});

it.each([
  { size: 's', image: 'i', region: 'nyc3', extra: {} },
  { size: 's', image: 7, extra: { tags: ['web'] } },
])('a batch is resumed with the attributes it was recorded with: %j', (attributes) => {
  expect(decodeEvent(encodeEvent(batchOf(['a'], { attributes })).trim())).toHaveProperty('attributes', attributes);
});

it.each(['$(touch x)', '-x', 'a b', ''])(
  'a ledger with the name %j is not read: hints print its names in commands',
  (name) => {
    const names = ['web', name];
    const at = '2026-01-01T00:00:00.000Z';
    const batch = batchOf(['web']);
    expect(decodeEvent(encodeEvent(batch))).toEqual(batch);
    expect(decodeEvent(encodeEvent({ ...batch, names }))).toBeUndefined();
    expect(decodeEvent(encodeEvent({ event: 'sending', at, group: 1, names }))).toBeUndefined();
  },
);
