import { expect, test } from 'vitest';
import { createCommandDescriptionTable, describeCommand } from '../../src/cli/command-table.ts';
import { testTree } from './tree.ts';

const root = (loaded: string[] = []) => ({ kind: 'group', summary: 'the cloud', children: testTree(loaded) }) as const;

test('the table has a row for the program, for each group and for each command', async () => {
  const loaded: string[] = [];
  const { commands, globalOptions } = await createCommandDescriptionTable('cloudctl', root(loaded));
  expect(commands.map(({ words }) => words.slice(1).join(' '))).toEqual([
    '',
    'auth',
    'auth status',
    'auth switch',
    'actions',
    'actions list',
    'droplets',
    'droplets list',
    'droplets create',
    'db',
    'db migrate',
    'completion',
  ]);
  expect(globalOptions.map(({ name }) => name)).toContain('output');
  expect(loaded).toHaveLength(7);
});

test('a row is plain data that JSON keeps whole', async () => {
  const { commands } = await createCommandDescriptionTable('cloudctl', root());
  expect(JSON.parse(JSON.stringify(commands))).toMatchObject(JSON.parse(JSON.stringify(commands)));
  expect(commands.find(({ words }) => words.join(' ') === 'cloudctl droplets create')).toMatchObject({
    synopsis: 'cloudctl droplets create [NAME...] [OPTIONS]',
    arguments: [{ name: 'NAME', variadic: true }],
    options: [{ name: 'names' }, { name: 'names-from', completion: 'file' }, {}, {}, {}],
    examples: [{ command: expect.stringContaining('cloudctl droplets create') }],
    commands: [],
  });
  expect(commands.find(({ words }) => words.join(' ') === 'cloudctl droplets')).toMatchObject({
    defaultCommand: 'list',
    commands: [{ name: 'list' }, { name: 'create' }],
    synopsis: 'cloudctl droplets [COMMAND] [OPTIONS]',
  });
});

test('a command is described without reading the others, and a group without reading any', async () => {
  const loaded: string[] = [];
  const { children } = root(loaded).children.droplets as Extract<
    ReturnType<typeof testTree>[string],
    { kind: 'group' }
  >;
  await describeCommand(['cloudctl', 'droplets'], { kind: 'group', summary: '', children });
  expect(loaded).toEqual([]);
  await describeCommand(['cloudctl', 'droplets', 'create'], children.create!);
  expect(loaded).toEqual(['droplets create']);
});

test('a command has the variables that concern it, the program has all', async () => {
  const namesOf = async (...words: string[]) =>
    (await describeCommand(['cloudctl', ...words], { kind: 'group', summary: '', children: {} })).environment.map(
      ({ name }) => name,
    );
  expect(await namesOf()).toContain('CLOUDCTL_PROFILE');
  expect(await namesOf('db', 'watch')).toContain('CLOUDCTL_SOURCE');
  expect(await namesOf('db', 'watch')).not.toContain('CLOUDCTL_REHEARSE_INTO');
  expect(await namesOf('db', 'rehearse')).toContain('CLOUDCTL_REHEARSE_INTO');
  expect(await namesOf('doctor')).toEqual([]);
});
