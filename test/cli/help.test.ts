import { describe, expect, test } from 'vitest';
import type { LazyCommand } from '../../src/cli/command.ts';
import { describeCommand } from '../../src/cli/command-table.ts';
import { helpFileEntries, renderHelp } from '../../src/cli/help.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testTree } from './tree.ts';

const plain = { columns: undefined, color: false };

function root(columns?: number): Promise<string> {
  const node = { kind: 'group', summary: 'the command line of the cloud', children: testTree() } as const;
  const topics = { output: { summary: 'formats', load: async () => ({ text: 'Data goes to standard output.' }) } };
  return renderHelp({ path: ['cloudctl'], node }, { columns, color: false }, topics);
}

const long: LazyCommand<unknown> = {
  kind: 'command',
  summary: 'move a database',
  load: async () => ({
    description:
      'This is the online migration of an external database into a managed cluster.\n\n  a line that is set in',
    arguments: [{ name: 'CLUSTER_UUID', description: 'the target', required: true }],
    options: [
      {
        name: 'a-very-long-option-name-indeed',
        valueName: 'SOMETHING,SOMETHING,..',
        description: 'does something that takes a while to explain to anybody',
      },
      { name: 'method', valueName: 'M', choices: ['continuous', 'dump'], description: 'how' },
      { name: 'source', valueName: 'URL', description: 'as in postgres://USER@HOST:PORT/DBNAME' },
      { name: 'report', valueName: 'FILE', multiple: 'repeat', description: 'where to' },
    ],
    examples: [
      { text: 'from a server of your own', command: 'cloudctl db migrate 9f8e --source postgres://db.example/app' },
      { text: 'only look', command: 'cloudctl db preflight' },
    ],
    run: async () => 0,
  }),
};

test('the program lists its commands and its help topics', async () => {
  const text = await root();
  for (const heading of ['Usage', 'Commands', 'Topics']) expect(text).toContain(`\n${heading}:\n`);
  expectGolden('help', text);
});

test('a command lists its arguments, its options with their choices, every example and its own variables', async () => {
  const text = await renderHelp({ path: ['cloudctl', 'db', 'migrate'], node: long }, plain);
  for (const heading of ['Arguments', 'Options', 'Examples', 'Environment']) expect(text).toContain(`\n${heading}:\n`);
  expect(text).toContain('CLOUDCTL_SOURCE');
  expect(text).not.toContain('CLOUDCTL_PROFILE');
  expectGolden('help', text);
});

test.each([40, 60, 80, 200])('no text is wider than a terminal of %i columns, and none than 100', async (columns) => {
  for (const text of [
    await root(columns),
    await renderHelp({ path: ['cloudctl', 'db', 'migrate'], node: long }, { columns, color: false }),
  ]) {
    const wide = text.split('\n').filter((line) => line.length > Math.min(columns, 100));
    // What is to be typed or is one word is not broken.
    expect(wide.filter((line) => !/^ {2}\$ |--a-very-long/.test(line))).toEqual([]);
  }
});

test('a usage line or a word that is too wide moves to a place where it fits', async () => {
  const text = await renderHelp({ path: ['cloudctl', 'db', 'migrate'], node: long }, { columns: 40, color: false });
  expectGolden('help', text);
});

test('headings and names have colour when it is wanted', async () => {
  const text = await renderHelp({ path: ['cloudctl', 'db', 'migrate'], node: long }, { columns: 80, color: true });
  expect(text).toContain('\u001b[1mOptions:\u001b[22m');
  expect(text).toContain('\u001b[36mCLUSTER_UUID\u001b[39m  The target');
});

describe('the entries of a help page', () => {
  const root = { kind: 'group', summary: 'the cloud', children: testTree() } as const;
  const topics = { output: { summary: 'formats', load: async () => ({ text: 'text' }) } };

  test('there is an entry for the program, each group, command, alias and topic', async () => {
    const entries = await helpFileEntries('x', { ...root, aliases: { drop: 'droplets' } }, topics);
    const words = entries.map((entry) => entry.words.join(' '));
    expect(words).toEqual(expect.arrayContaining(['', 'auth', 'auth status', 'droplets create', 'drop create']));
    expect(words.at(-1)).toBe('help output');
    expect(new Set(words).size).toBe(words.length);
  });

  test('an entry has the page of a pipe and the description, under an alias as well', async () => {
    const entries = await helpFileEntries('x', { ...root, aliases: { login: 'auth' } }, topics);
    const path = ['x', 'auth'];
    for (const word of ['auth', 'login'])
      expect(entries.find((entry) => entry.words.join(' ') === word)).toMatchObject({
        page: await renderHelp({ path, node: root.children.auth! }, { columns: 80, color: false }),
        description: await describeCommand(path, root.children.auth!),
      });
  });
});
