import { expect, it, vi } from 'vitest';
import { commandGroup, findCommandByWord, lazyCommand } from '../../src/cli/command.ts';

it('declaring a command does not load its file', () => {
  const load = vi.fn();
  const tree = commandGroup('list things', { list: lazyCommand('list', load) }, { defaultCommand: 'list' });
  expect(tree).toMatchObject({ kind: 'group', defaultCommand: 'list', children: { list: { kind: 'command' } } });
  expect(load).not.toHaveBeenCalled();
});

it.each([
  { word: 'list', name: 'list' },
  { word: 'ls', name: 'list' },
  { word: 'lists', name: undefined },
  { word: 'constructor', name: undefined },
])('the word $word of a group names $name', ({ word, name }) => {
  const list = lazyCommand('list', vi.fn());
  const group = commandGroup('list things', { list }, { aliases: { ls: 'list' } });
  expect(findCommandByWord(group, word)?.name).toBe(name);
  expect(findCommandByWord(list, word)).toBeUndefined();
});
