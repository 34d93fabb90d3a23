import { expect, test } from 'vitest';
import { describeCommand } from '../../src/cli/command-table.ts';
import { createHelpFileEntries, renderHelp } from '../../src/cli/help.ts';

import { testTree } from './tree.ts';

const root = { kind: 'group', summary: 'the cloud', children: testTree() } as const;
const topics = { output: { summary: 'formats', load: async () => ({ text: 'text' }) } };

test('there is an entry for the program, each group, command, alias and topic', async () => {
  const entries = await createHelpFileEntries('x', { ...root, aliases: { drop: 'droplets' } }, topics);
  const words = entries.map((entry) => entry.words.join(' '));
  expect(words).toEqual(expect.arrayContaining(['', 'auth', 'auth status', 'droplets create', 'drop create']));
  expect(words.at(-1)).toBe('help output');
  expect(new Set(words).size).toBe(words.length);
});

test('an entry has the page of a pipe and the description, under an alias as well', async () => {
  const entries = await createHelpFileEntries('x', { ...root, aliases: { login: 'auth' } }, topics);
  const path = ['x', 'auth'];
  for (const word of ['auth', 'login'])
    expect(entries.find((entry) => entry.words.join(' ') === word)).toMatchObject({
      page: await renderHelp({ path, node: root.children.auth! }, { columns: 80, color: false }),
      description: await describeCommand(path, root.children.auth!),
    });
});
