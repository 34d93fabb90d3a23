import { expect, it } from 'vitest';
import { spreadsheetCell } from '../../src/sanitize/spreadsheet-cell.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

it.each(Object.entries(hostileTexts))('%s is no formula and no control character', (_, text) => {
  const cell = spreadsheetCell(text);
  expect(cell).not.toMatch(rawUnprintable);
  expect(cell).not.toContain('\n');
  expect(cell).not.toMatch(/^[=@\uff1d\uff0b\uff0d\uff20]|^[+-](?![\d.]+$)/);
});

it('an apostrophe is added only where a formula begins', () => {
  expect(['=1+1', '+a', '-a', '@a', '\t=1', '-1+1'].map(spreadsheetCell)).toEqual([
    "'=1+1",
    "'+a",
    "'-a",
    "'@a",
    "'=1",
    "'-1+1",
  ]);
  for (const text of ['-1', '+1.5', 'a=b', "it's", '']) expect(spreadsheetCell(text)).toBe(text);
});
