import { expect, test } from 'vitest';
import { splitList, wordsOf } from '../../src/cli/words.ts';

const options = [
  { name: 'names', value: 'LIST', many: 'list', description: '' },
  { name: 'set', value: 'KEY=JSON', many: 'repeat', description: '' },
  { name: 'size', value: 'S', description: '' },
  { name: 'wait', description: '' },
] as const;

test('the last value of an option counts', () => {
  expect(wordsOf([], options, new Map([['size', ['a', 'b']]])).text('size')).toBe('b');
});

test('a list is split at commas, over all its occurrences and in order', () => {
  const words = wordsOf([], options, new Map([['names', ['a,b', 'c', ' d , e ']]]));
  expect(words.list('names')).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(words.text('names')).toBe('e');
});

test('the commas of an option that is only repeated belong to its values', () => {
  const given = ['tags=["a","b"]', 'x=1'];
  expect(wordsOf([], options, new Map([['set', given]])).list('set')).toEqual(given);
});

test('a flag is told from one that was not given', () => {
  const words = wordsOf(['x'], options, new Map([['wait', ['']]]));
  expect([words.flag('wait'), words.flag('names'), words.text('size'), words.list('set')]).toEqual([
    true,
    false,
    undefined,
    [],
  ]);
  expect(words.args).toEqual(['x']);
});

test('asking for an option that was not declared is a mistake that shows', () => {
  expect(() => wordsOf([], options, new Map()).text('sice')).toThrow('--sice is not declared');
});

test.each([
  ['web-{a,b},db', ['web-{a,b}', 'db']],
  ['{a,{b,c}},d', ['{a,{b,c}}', 'd']],
  ['a{,b', ['a{', 'b']],
  ['a},b', ['a}', 'b']],
  ['a,,b', ['a', '', 'b']],
  ['', ['']],
])('%s is split into %j', (text, expected) => {
  expect(splitList(text)).toEqual(expected);
});
