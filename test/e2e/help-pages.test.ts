import { afterAll, expect, test } from 'vitest';
import { describeCommands } from '../../src/cli/command-table.ts';
import { commandTree } from '../../src/commands/index.ts';
import { helpTopics } from '../../src/help-topics/help-topics.ts';
import { topLevelCommandAliases } from '../../src/help-topics/similar-tools.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { run } from '../fixtures/cli.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { testHost } from '../fixtures/host.ts';

const root = { kind: 'group', summary: '', children: commandTree, aliases: topLevelCommandAliases } as const;
const { commands } = await describeCommands('cloudctl', root);
const folders = makeFolders();
afterAll(() => folders.remove());

const lines = [
  ...commands.map(({ words }) => [...words.slice(1), '--help']),
  ...Object.keys(topLevelCommandAliases).map((alias) => [alias, '-h']),
  ...Object.keys(helpTopics).map((topic) => ['help', topic]),
];

test.each(lines.map((words) => [words.join(' '), words] as const))(
  '%s of the build is what the sources render for a terminal of 80 columns',
  async (_, words) => {
    const live = await runCloudctl(testHost(), words, { terminal: 80, env: { NO_COLOR: '1' } });
    const built = await run(words, { folders });
    expect([built.code, built.stderr]).toEqual([0, '']);
    expect(built.stdout).toBe(live.out);
  },
);

test.each(['db preflight --help', '--help', 'droplets --help'])(
  '%s has the same text where the build renders it live',
  async (line) => {
    const stored = await run(line.split(' '), { folders });
    const live = await run(['--no-color', ...line.split(' ')], { folders });
    expect(live.stdout).toBe(stored.stdout);
  },
);
