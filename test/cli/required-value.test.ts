import { expect, it } from 'vitest';
import { parseArgs } from '../../src/cli/parse-args.ts';
import { requireNonEmptyValue } from '../../src/cli/required-value.ts';

const wordsWith = (...typed: readonly string[]) =>
  parseArgs(
    [],
    [{ name: 'tag', valueName: 'T', description: '' }],
    new Map(typed.length === 0 ? [] : [['tag', typed]]),
  );

it('gives what was typed, as it was typed, and the last of several', () => {
  expect(requireNonEmptyValue(wordsWith(), 'tag', 'web')).toBeUndefined();
  expect(requireNonEmptyValue(wordsWith('', ' a b '), 'tag', 'web')).toBe(' a b ');
});

it.each(['', ' ', '\t'])('%j is none', (text) => {
  expect(() => requireNonEmptyValue(wordsWith(text), 'tag', 'web')).toThrow('--tag is empty');
});
