import { describe, expect, test } from 'vitest';
import { describeCommands } from '../../src/cli/command-table.ts';
import { commandTree } from '../../src/commands/index.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { runCloudctl } from './run-cloudctl.ts';

const root = { kind: 'group', summary: 'the cloud', children: commandTree } as const;
const { commands, globalOptions } = await describeCommands('cloudctl', root);

test('every command and group has its summary, in the imperative and without a full stop', () => {
  const texts = commands.slice(1).map(({ words, summary }) => `${words.join(' ')}: ${summary}`);
  expect(commands.filter(({ summary }) => !/^[a-z].*[^.]$/.test(summary))).toEqual([]);
  expectGolden('help', texts.join('\n'));
});

describe.each(commands.map((command) => [command.words.slice(1).join(' '), command] as const))('"%s"', (_, command) => {
  test('no name of an option is used twice', () => {
    const own = command.options.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]);
    const global = globalOptions.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]);
    expect(new Set([...own, ...global]).size).toBe(own.length + global.length);
  });
});

test.each(
  commands
    .filter(({ commands: below }) => below.length === 0)
    .map((command) => [command.words.slice(1).join(' '), command] as const),
)('"%s" has an example that contains its words', (words, { examples }) => {
  const pattern = new RegExp(`\\bcloudctl( -\\S+( \\S+)?)* ${words}\\b`);
  expect(examples.map(({ command }) => command).filter((line) => pattern.test(line))).not.toEqual([]);
});

test.each([
  ['source', 'CLOUDCTL_SOURCE'],
  ['target', 'CLOUDCTL_TARGET'],
])('every database command with --%s lists %s', (option, variable) => {
  const taking = commands.filter(
    ({ words, options }) => words[1] === 'db' && options.some(({ name }) => name === option),
  );
  expect(taking.length).toBeGreaterThan(4);
  const silent = taking.filter(({ environment }) => !environment.some(({ name }) => name === variable));
  expect(silent.map(({ words }) => words.join(' '))).toEqual([]);
});

test('__commands prints the whole table as JSON', async () => {
  const ran = await runCloudctl(testHost(), ['__commands']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  const table = ran.json<{ version: string; commands: { words: string[] }[] }>();
  expect(table.commands.map(({ words }) => words)).toEqual(commands.map(({ words }) => words));
});

test('__complete answers for the commands, the options and the stored profiles', async () => {
  const host = testHost();
  host.writeConfig({ profiles: { work: {}, home: {} } });
  const answers = async (...words: string[]) =>
    (await runCloudctl(host, ['__complete', '--', ...words])).out.split('\n').map((line) => line.replace(/\t.*/, ''));
  expect(await answers('dro')).toEqual(['droplets', '']);
  expect(await answers('auth', 'switch', '')).toEqual(['work', 'home', '']);
  expect(await answers('droplets', 'create', '--names-f')).toEqual(['--names-from', '']);
  expect(await answers('sandbox', 'restore', '')).toEqual([':file', '']);
  expect(await answers('auth', 'login', '--credential-store', '')).toEqual(['keychain', 'file', '']);
  expect(await answers('auth', 'login', '--scope=read ')).toEqual(['--scope=read write', '']);
  expect(await answers('config', 'set', 'output', 'y')).toEqual(['yaml', '']);
  expect(await answers('config', 'set', 'constructor', '')).toEqual(['']);
  expect(await answers('droplets', '--json', 'na')).toEqual(['name', '']);
  expect(await answers('droplets', 'list', '--json=id,na')).toEqual(['--json=id,name', '']);
  expect(await answers('droplets', 'list', '--format', 'ID,Pub')).toEqual(['ID,PublicIPv4', '']);
  expect(await answers('api', '-X', 'P')).toEqual(['POST', 'PUT', 'PATCH', '']);
  expect(await answers('api', 'GET', '/v2/d')).toEqual(['/v2/databases', '/v2/droplets', '']);
  expect(await answers('droplets', 'list', '--profile', 'w')).toEqual(['work', '']);
});
