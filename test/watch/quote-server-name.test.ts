import { expect, test } from 'vitest';
import { quoteServerName } from '../../src/watch/quote-server-name.ts';

test.each([
  ['Odd "name"', '"Odd ""name"""'],
  ['', '""'],
  ['a\0b', '""'],
])('%j is quoted', (name, quoted) => {
  expect(quoteServerName(name)).toBe(quoted);
});
