import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextMeasurer, createTextMeasurerForTexts } from '../../src/cli/text.ts';

test('wide characters take two cells, combining ones none', async () => {
  const { measure } = await createTextMeasurer();
  expect([measure('abc'), measure('日本'), measure('e\u0301'), measure('👩‍💻')]).toEqual([3, 4, 1, 2]);
});

test('a wide character is not cut in half', async () => {
  const { truncate: shorten } = await createTextMeasurer();
  expect([
    shorten('日本語', 6),
    shorten('日本語', 5),
    shorten('日本語', 4),
    shorten('日本語', 1),
    shorten('日本語', 0),
  ]).toEqual(['日本語', '日本…', '日…', '…', '']);
});

test('what was fitted never takes more than its cells, and what was padded never fewer', async () => {
  const { truncate: shorten, pad, measure } = await createTextMeasurer();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, cells) => {
      expect(measure(shorten(text, cells))).toBeLessThanOrEqual(cells);
      expect(measure(pad(text, cells))).toBeGreaterThanOrEqual(cells);
    }),
  );
});

test('ASCII is measured, cut and filled as all text is, and other text needs no more than to be told', async () => {
  const all = await createTextMeasurer();
  const check = async (text: string, cells: number): Promise<void> => {
    const own = await createTextMeasurerForTexts([text]);
    expect([own.measure(text), own.truncate(text, cells), own.pad(text, cells)]).toEqual([
      all.measure(text),
      all.truncate(text, cells),
      all.pad(text, cells),
    ]);
    const short = own.truncate(text, cells);
    expect(own.truncate(`${short}  ${text}`, cells)).toBe(all.truncate(`${short}  ${text}`, cells));
  };
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });
  const text = fc.oneof(ascii, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  await fc.assert(fc.asyncProperty(text, fc.nat(30), check));
});
