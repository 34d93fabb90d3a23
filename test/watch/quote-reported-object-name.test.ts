import { expect, test } from 'vitest';
import { quoteReportedObjectName } from '../../src/watch/quote-reported-object-name.ts';

test.each([
  ['Odd "name"', '"Odd ""name"""'],
  ['', '""'],
  ['a\0b', '""'],
])('%j is quoted', (name, quoted) => {
  expect(quoteReportedObjectName(name)).toBe(quoted);
});
