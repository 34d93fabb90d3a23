import { expect, test } from 'vitest';
import { estimateWalRate } from '../../../../src/db/preflight/postgresql/source-facts.ts';

const day = { bytes: 86_400_000, seconds: 86_400 };

test('a brief reading does not replace the average, a longer one does when it is higher', () => {
  expect(estimateWalRate({ bytes: 1e6, seconds: 0.1 }, day)).toBe(1000);
  expect(estimateWalRate({ bytes: 1e6, seconds: 5 }, day)).toBe(200_000);
  expect(estimateWalRate({ bytes: 5, seconds: 5 }, day)).toBe(1000);
});

test('without an average of an hour the reading counts, however brief', () => {
  expect(estimateWalRate({ bytes: 1e6, seconds: 0.1 }, undefined)).toBe(10_000_000);
  expect(estimateWalRate({ bytes: 1e6, seconds: 0.1 }, { bytes: 1, seconds: 60 })).toBe(10_000_000);
  expect(estimateWalRate(undefined, undefined)).toBe(0);
});
