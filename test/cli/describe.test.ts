import { expect, test } from 'vitest';
import { describeProgram } from '../../src/cli/describe.ts';
import { testTree } from './tree.ts';

test('every command of the tree is read and described', async () => {
  const loaded: string[] = [];
  const program = await describeProgram('cloudctl', 'the cloud', testTree(loaded));
  expect(program).toMatchObject({ name: 'cloudctl', summary: 'the cloud' });
  expect(program.children.map(({ name }) => name)).toEqual(['auth', 'actions', 'droplets', 'db', 'completion']);
  const droplets = program.children[2]!;
  expect([droplets.fallback, droplets.children.map(({ name }) => name)]).toEqual(['list', ['list', 'create']]);
  expect(droplets.children[1]?.options.map(({ name }) => name)).toContain('names-from');
  expect(droplets.children[1]?.arguments).toMatchObject([{ name: 'NAME', variadic: true }]);
  expect(loaded).toHaveLength(7);
});
