/** Random values that a seed repeats. */
export interface RandomSource {
  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  /** True in one of so many cases. */
  oneIn(cases: number): boolean;
}

/** The generator mulberry32. */
export function createRandomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (values) => {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error('there is nothing to pick from');
      return value;
    },
    oneIn: (cases) => below(cases) === 0,
  };
}
