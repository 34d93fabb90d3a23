import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexDropletNamePositions } from '../../../src/batch/ledger/name-index.ts';

describe('the index of names', () => {
  it('finds what a search of the list finds, and tells what stands twice', () => {
    const name = fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom('constructor', '__proto__', ''));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 60 }), fc.array(name), (names, others) => {
        const { positionOf, repeated } = indexDropletNamePositions(names);
        for (const one of [...names, ...others]) expect(positionOf(one)).toBe(names.indexOf(one));
        const twice = names.filter((one, at) => names.indexOf(one) !== at);
        expect([...repeated].sort()).toEqual([...new Set(twice)].sort());
      }),
    );
  });

  it('of many names that differ in their last digits is quick', () => {
    const names = Array.from({ length: 200_000 }, (_, at) => `n-${at}`);
    const { positionOf, repeated } = indexDropletNamePositions(names);
    expect(repeated).toEqual([]);
    expect([positionOf('n-0'), positionOf('n-199999'), positionOf('n-200000')]).toEqual([0, 199_999, -1]);
  });
});
