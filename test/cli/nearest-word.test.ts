import { expect, test } from 'vitest';
import { editDistance, likelyIntendedWord, nearestWord } from '../../src/cli/values.ts';

const commands = ['auth', 'actions', 'droplets', 'db', 'config', 'completion'];

test.each([
  ['droplts', 'droplets'],
  ['droplet', 'droplets'],
  ['atuh', 'auth'],
  ['ACTIONS', 'actions'],
  ['conf', 'config'],
  ['drop', 'droplets'],
])('%s is close to %s', (word, expected) => {
  expect(nearestWord(word, commands)).toBe(expected);
});

test.each(['kubernetes', 'x', '', 'volumes'])('%s is close to nothing', (word) => {
  expect(nearestWord(word, commands)).toBeUndefined();
});

test.each(['lst', 'lsit', 'ls', 'lisst', 'creat', 'craete', 'crate', 'List'])('%s is taken for a slip', (word) => {
  expect(likelyIntendedWord(word, ['list', 'create'])).toBeDefined();
});

test.each(['test', 'web', 'web-*', 'l*st', 'lst1', 'db', 'last-web', 'production', 'c', ''])(
  '%s is taken for a name',
  (word) => {
    expect(likelyIntendedWord(word, ['list', 'create'])).toBeUndefined();
  },
);

test('a swap of neighbours is one edit', () => {
  expect(editDistance('abcd', 'abdc')).toBe(1);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(editDistance('same', 'same')).toBe(0);
});
