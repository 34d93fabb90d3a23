import { expect, test } from 'vitest';
import { wrapWords } from '../../src/cli/text.ts';

test('lines break between words and are indented', () => {
  expect(wrapWords('one two three four five', 13, 2)).toBe('one two three\n  four five');
});

test('a command in backquotes and a long word stay in one line', () => {
  expect(wrapWords('see `a b c d e f`; averyveryverylongword', 10)).toBe('see\n`a b c d e f`;\naveryveryverylongword');
});

test('blanks at the start stay', () => {
  expect(wrapWords('  one two', 5, 4)).toBe('  one\n    two');
});

test.each(['', 'a', 'a  b', '  a', 'an `open quote'])('a short text stays as it is: %j', (text) => {
  expect(wrapWords(text, 40)).toBe(text);
});
