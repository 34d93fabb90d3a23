import { expect, it } from 'vitest';
import { given } from '../../src/cli/given.ts';
import { wordsOf } from '../../src/cli/words.ts';

const wordsWith = (...typed: readonly string[]) =>
  wordsOf([], [{ name: 'tag', value: 'T', description: '' }], new Map(typed.length === 0 ? [] : [['tag', typed]]));

it('gives what was typed, as it was typed, and the last of several', () => {
  expect(given(wordsWith(), 'tag', 'web')).toBeUndefined();
  expect(given(wordsWith('', ' a b '), 'tag', 'web')).toBe(' a b ');
});

it.each(['', ' ', '\t'])('%j is none', (text) => {
  expect(() => given(wordsWith(text), 'tag', 'web')).toThrow('--tag is empty');
});
