import { expect, it } from 'vitest';
import { createParsedArgs } from '../../src/cli/command.ts';
import { requireNonEmptyValue } from '../../src/cli/values.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

const wordsWith = (...typed: readonly string[]) =>
  createParsedArgs(
    [],
    [{ name: 'tag', valueName: 'T', description: '' }],
    new Map(typed.length === 0 ? [] : [['tag', typed]]),
  );

it('gives what was typed, as it was typed, and the last of several', () => {
  expect(requireNonEmptyValue(wordsWith(), 'tag', 'web')).toBeUndefined();
  expect(requireNonEmptyValue(wordsWith('', ' a b '), 'tag', 'web')).toBe(' a b ');
});

it.each(['', ' ', '\t'])('%j is an empty value', (text) => {
  expectGolden(
    'errors',
    thrownText(() => requireNonEmptyValue(wordsWith(text), 'tag', 'web')),
  );
});
