import { expect, test } from 'vitest';
import { createParsedArgs, splitCommaSeparatedValues } from '../../src/cli/command.ts';

const options = [
  { name: 'names', valueName: 'LIST', multiple: 'list', description: '' },
  { name: 'set', valueName: 'KEY=JSON', multiple: 'repeat', description: '' },
  { name: 'size', valueName: 'S', description: '' },
  { name: 'wait', description: '' },
] as const;

test('the last value of an option counts', () => {
  expect(createParsedArgs([], options, new Map([['size', ['a', 'b']]])).value('size')).toBe('b');
});

test('a list is split at commas, over all its occurrences and in order', () => {
  const words = createParsedArgs([], options, new Map([['names', ['a,b', 'c', ' d , e ']]]));
  expect(words.values('names')).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(words.value('names')).toBe('e');
});

test('the commas of an option that is only repeated belong to its values', () => {
  const given = ['tags=["a","b"]', 'x=1'];
  expect(createParsedArgs([], options, new Map([['set', given]])).values('set')).toEqual(given);
});

test('a flag that was given is distinguished from one that was not', () => {
  const words = createParsedArgs(['x'], options, new Map([['wait', ['']]]));
  expect([words.has('wait'), words.has('names'), words.value('size'), words.values('set')]).toEqual([
    true,
    false,
    undefined,
    [],
  ]);
  expect(words.positionals).toEqual(['x']);
});

test('asking for an option that was not declared is a mistake that shows', () => {
  expect(() => createParsedArgs([], options, new Map()).value('sice')).toThrow('--sice');
});

test.each([
  ['web-{a,b},db', ['web-{a,b}', 'db']],
  ['{a,{b,c}},d', ['{a,{b,c}}', 'd']],
  ['a{,b', ['a{', 'b']],
  ['a},b', ['a}', 'b']],
  ['a,,b', ['a', '', 'b']],
  ['', ['']],
])('%s is split into %j', (text, expected) => {
  expect(splitCommaSeparatedValues(text)).toEqual(expected);
});
