import { describe, expect, test } from 'vitest';
import { variableSpecs } from '../../src/cli/command.ts';
import { describeCommand, describeCommands, globalOptions, helpOptions } from '../../src/cli/command-table.ts';
import { testTree } from './tree.ts';

const root = (loaded: string[] = []) => ({ kind: 'group', summary: 'the cloud', children: testTree(loaded) }) as const;

test('the table has a row for the program, for each group and for each command', async () => {
  const loaded: string[] = [];
  const { commands, globalOptions } = await describeCommands('cloudctl', root(loaded));
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
  const { commands } = await describeCommands('cloudctl', root());
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

describe('global options', () => {
  test('no two global options share a name', () => {
    const flags = [...globalOptions, ...helpOptions].flatMap(({ name, short }) => [
      name,
      ...(short === undefined ? [] : [short]),
    ]);
    expect(new Set(flags).size).toBe(flags.length);
  });

  test('the choices of an option are told in its description', () => {
    for (const { choices = [], description } of globalOptions) {
      for (const choice of choices) expect(description).toContain(choice);
    }
  });
});

describe('environment variables', () => {
  test('every variable is listed once, with what it does', () => {
    const names = variableSpecs.flatMap(({ name }) => name.split(', '));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Z_]+$/);
    for (const { description } of variableSpecs) expect(description).not.toBe('');
  });

  test('a variable that stands for a global option names one that exists', () => {
    const options = globalOptions.map(({ name }) => `same as --${name}`);
    const said = variableSpecs
      .filter(({ commands }) => commands === undefined)
      .map(({ description }) => description)
      .filter((text) => /^same as --[a-z-]+$/.test(text));
    expect(said).toContain('same as --profile');
    for (const text of said) expect(options).toContain(text);
  });
});
