import { expect, test } from 'vitest';
import { requireWholeNumber } from '../../src/cli/values.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

test.each(['0', '7', '+7', '200'])('%s is a whole number', (text) => {
  expect(requireWholeNumber(text, '--limit')).toBe(Number(text));
});

test.each(['', 'ten', '1.5', '1e3', '0x10', ' 7', '99999999999999999999'])('%j is not a whole number', (text) => {
  expect(() => requireWholeNumber(text, '--limit')).toThrow(expect.objectContaining({ code: 'usage', exitCode: 2 }));
});

test('the errors name the option, the value and the bounds', () => {
  const texts = [
    thrownText(() => requireWholeNumber('ten', '--limit')),
    thrownText(() => requireWholeNumber('-1', '--limit')),
    thrownText(() => requireWholeNumber('201', '--page-size', { min: 1, max: 200 })),
  ];
  expectGolden('errors', texts.join('\n\n'));
});
