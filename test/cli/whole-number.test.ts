import { expect, test } from 'vitest';
import { requireWholeNumber } from '../../src/cli/whole-number.ts';

test.each(['0', '7', '+7', '200'])('%s is a whole number', (text) => {
  expect(requireWholeNumber(text, '--limit')).toBe(Number(text));
});

test.each(['', 'ten', '1.5', '1e3', '0x10', ' 7', '99999999999999999999'])('%j is none', (text) => {
  expect(() => requireWholeNumber(text, '--limit')).toThrow(
    expect.objectContaining({ code: 'usage', message: `--limit is no whole number: "${text.trim()}"` }),
  );
});

test('a number outside its bounds is refused with the bounds', () => {
  expect(() => requireWholeNumber('-1', '--limit')).toThrow(
    expect.objectContaining({ hint: 'give a number 0 or more' }),
  );
  expect(() => requireWholeNumber('201', '--page-size', { min: 1, max: 200 })).toThrow(
    expect.objectContaining({ message: '--page-size is out of range: 201', hint: 'give a number from 1 to 200' }),
  );
});
