import { expect, test } from 'vitest';
import { quoteReported } from '../../../src/db/watch/sample.ts';

test.each([
  ['Odd "name"', '"Odd ""name"""'],
  ['', '""'],
  ['a\0b', '""'],
])('%j is quoted', (name, quoted) => {
  expect(quoteReported(name)).toBe(quoted);
});
