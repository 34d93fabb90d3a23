import { expect, test } from 'vitest';
import { quoteServerReportedName } from '../../../src/db/watch/quote-server-reported-name.ts';

test.each([
  ['Odd "name"', '"Odd ""name"""'],
  ['', '""'],
  ['a\0b', '""'],
])('%j is quoted', (name, quoted) => {
  expect(quoteServerReportedName(name)).toBe(quoted);
});
