import { expect, it } from 'vitest';
import { createSharedStoreClock } from '../../src/session/shared-store-clock.ts';

function clocks() {
  const state = { wall: 1_000, steady: 0 };
  const clock = { now: () => state.wall, sleep: async () => undefined };
  return {
    state,
    make: (known?: number) =>
      createSharedStoreClock(
        clock,
        () => known,
        () => state.steady,
      ),
  };
}

it('continues from the time of the store', () => {
  const { state, make } = clocks();
  const clock = make();
  expect(clock.offset()).toBeUndefined();
  clock.set(501_000);
  [state.wall, state.steady] = [1_250, 250];
  expect([clock.now(), clock.offset(), clock.elapsed()]).toEqual([501_250, 500_000, 250]);
});

it('before the first answer it uses the offset of an earlier run', () => {
  expect(clocks().make(-200).now()).toBe(800);
});

it.each([
  ['a suspended machine, whose monotonic clock stood still', 61_000, 10, 60_000],
  ['a wall clock that was set back', -500_000, 60_000, 60_000],
])('elapsed time is the greater of both clocks: %s', (_name, wall, steady, expected) => {
  const { state, make } = clocks();
  const clock = make();
  [state.wall, state.steady] = [wall, steady];
  expect(clock.elapsed()).toBe(expected);
});
