import { expect, it, vi } from 'vitest';
import { commandGroup, lazyCommand } from '../../src/cli/command-tree.ts';

it('declaring a command does not load its file', () => {
  const load = vi.fn();
  const tree = commandGroup('list things', { list: lazyCommand('list', load) }, { defaultCommand: 'list' });
  expect(tree).toMatchObject({ kind: 'group', defaultCommand: 'list', children: { list: { kind: 'command' } } });
  expect(load).not.toHaveBeenCalled();
});
