import { describe, expect, test, vi } from 'vitest';
import {
  commandGroup,
  createArgs,
  findCommand,
  formatSynopsis,
  lazyCommand,
  optionTerm,
  replaceWords,
  splitList,
} from '../../src/cli/command.ts';

const options = [
  { name: 'names', valueName: 'LIST', multiple: 'list', description: '' },
  { name: 'set', valueName: 'KEY=JSON', multiple: 'repeat', description: '' },
  { name: 'size', valueName: 'S', description: '' },
  { name: 'wait', description: '' },
] as const;

test('the last value of an option counts', () => {
  expect(createArgs([], options, new Map([['size', ['a', 'b']]])).value('size')).toBe('b');
});

test('a list is split at commas, over all its occurrences and in order', () => {
  const words = createArgs([], options, new Map([['names', ['a,b', 'c', ' d , e ']]]));
  expect(words.values('names')).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(words.value('names')).toBe('e');
});

test('the commas of an option that is only repeated belong to its values', () => {
  const given = ['tags=["a","b"]', 'x=1'];
  expect(createArgs([], options, new Map([['set', given]])).values('set')).toEqual(given);
});

test('a flag that was given is distinguished from one that was not', () => {
  const words = createArgs(['x'], options, new Map([['wait', ['']]]));
  expect([words.has('wait'), words.has('names'), words.value('size'), words.values('set')]).toEqual([
    true,
    false,
    undefined,
    [],
  ]);
  expect(words.positionals).toEqual(['x']);
});

test('asking for an option that was not declared is a mistake that shows', () => {
  expect(() => createArgs([], options, new Map()).value('sice')).toThrow('--sice');
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

describe('the tree of commands', () => {
  test('declaring a command does not load its file', () => {
    const load = vi.fn();
    const tree = commandGroup('list things', { list: lazyCommand('list', load) }, { defaultCommand: 'list' });
    expect(tree).toMatchObject({ kind: 'group', defaultCommand: 'list', children: { list: { kind: 'command' } } });
    expect(load).not.toHaveBeenCalled();
  });

  test.each([
    { word: 'list', name: 'list' },
    { word: 'ls', name: 'list' },
    { word: 'lists', name: undefined },
    { word: 'constructor', name: undefined },
  ])('the word $word of a group names $name', ({ word, name }) => {
    const list = lazyCommand('list', vi.fn());
    const group = commandGroup('list things', { list }, { aliases: { ls: 'list' } });
    expect(findCommand(group, word)?.name).toBe(name);
    expect(findCommand(list, word)).toBeUndefined();
  });
});

describe('replacements of a command', () => {
  test('each word has the same replacement', () => {
    expect(replaceWords('cloudctl auth list', ['profile', 'profiles'])).toEqual({
      profile: 'cloudctl auth list',
      profiles: 'cloudctl auth list',
    });
  });
});

describe('the synopsis', () => {
  test('optional arguments are in brackets, variadic ones have dots', () => {
    const place = { description: '' };
    expect(
      formatSynopsis('cloudctl x', {
        arguments: [
          { ...place, name: 'A', required: true },
          { ...place, name: 'B', variadic: true },
        ],
      }),
    ).toBe('cloudctl x A [B...] [OPTIONS]');
    expect(formatSynopsis('cloudctl x', { arguments: [{ ...place, name: 'A', required: true, variadic: true }] })).toBe(
      'cloudctl x A... [OPTIONS]',
    );
    expect(formatSynopsis('cloudctl x', {})).toBe('cloudctl x [OPTIONS]');
  });

  test('long names stand below each other, with a short one or without', () => {
    expect(optionTerm({ name: 'output', short: 'o', valueName: 'FORMAT', description: '' })).toBe(
      '-o, --output FORMAT',
    );
    expect(optionTerm({ name: 'trace', description: '' })).toBe('    --trace');
  });
});
