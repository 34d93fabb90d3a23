import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ruler } from '../../src/cli/width.ts';

test('wide characters take two cells, combining ones none', async () => {
  const { measure } = await ruler();
  expect([measure('abc'), measure('日本'), measure('e\u0301'), measure('👩‍💻')]).toEqual([3, 4, 1, 2]);
});

test('a wide character is not cut in half', async () => {
  const { shorten } = await ruler();
  expect([
    shorten('日本語', 6),
    shorten('日本語', 5),
    shorten('日本語', 4),
    shorten('日本語', 1),
    shorten('日本語', 0),
  ]).toEqual(['日本語', '日本…', '日…', '…', '']);
});

test('what was fitted never takes more than its cells, and what was padded never fewer', async () => {
  const { shorten, pad, measure } = await ruler();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, cells) => {
      expect(measure(shorten(text, cells))).toBeLessThanOrEqual(cells);
      expect(measure(pad(text, cells))).toBeGreaterThanOrEqual(cells);
    }),
  );
});
