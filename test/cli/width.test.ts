import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ruler, rulerFor } from '../../src/cli/width.ts';

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

test('ASCII is measured, cut and filled as all text is, and other text needs no more than to be told', async () => {
  const all = await ruler();
  const check = async (text: string, cells: number): Promise<void> => {
    const own = await rulerFor([text]);
    expect([own.measure(text), own.shorten(text, cells), own.pad(text, cells)]).toEqual([
      all.measure(text),
      all.shorten(text, cells),
      all.pad(text, cells),
    ]);
    const short = own.shorten(text, cells);
    expect(own.shorten(`${short}  ${text}`, cells)).toBe(all.shorten(`${short}  ${text}`, cells));
  };
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });
  const text = fc.oneof(ascii, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  await fc.assert(fc.asyncProperty(text, fc.nat(30), check));
});
