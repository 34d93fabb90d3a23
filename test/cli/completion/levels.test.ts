import { expect, test } from 'vitest';
import { flagsOf, levelsOf, offerOf, profilesCommand } from '../../../src/cli/completion/levels.ts';
import { describeProgram } from '../../../src/cli/describe.ts';
import { testTree } from '../tree.ts';

test('a branch with a fallback takes its options and arguments', async () => {
  const levels = levelsOf(await describeProgram('cloudctl', 'the cloud', testTree()));
  const at = (path: string) => levels.find((level) => level.path === path);
  expect(levels[0]).toMatchObject({ path: '/', options: [], places: [] });
  expect(at('/droplets')?.options.map(({ name }) => name)).toEqual(['region']);
  expect(at('/droplets')?.places).toEqual(at('/droplets/list')?.places);
  expect(at('/auth')?.options).toEqual([]);
});

test('what is offered for a value are its choices, else what completes it', () => {
  expect(offerOf({ choices: ['a'], completes: 'file' })).toEqual({ kind: 'words', words: ['a'] });
  expect(offerOf({ completes: 'profile' })).toEqual({ kind: 'profile' });
  expect(offerOf({ completes: ['a', 'b'] })).toEqual({ kind: 'words', words: ['a', 'b'] });
  expect(offerOf({})).toEqual({ kind: 'nothing' });
});

test('an option has its short and its long flag', () => {
  expect(flagsOf({ name: 'output', short: 'o', description: '' })).toEqual(['-o', '--output']);
});

test("the profiles' names are asked for without a header and without questions", () => {
  expect(profilesCommand('cloudctl')).toBe('cloudctl auth list --output table --format Profile --no-header --no-input');
});
