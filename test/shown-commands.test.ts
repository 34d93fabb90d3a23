import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CliError } from '../src/base/errors.ts';
import { parseCommandLine } from '../src/cli/parse.ts';
import { commandTree } from '../src/commands/index.ts';
import { helpTopics } from '../src/help-topics/help-topics.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it('every command that a hint, an error or a page shows whole is one that the program takes', async () => {
  const wrong: string[] = [];
  const shown = new Set(shownIn().flatMap((file) => commandsIn(readFileSync(file, 'utf8'))));
  for (const command of shown) {
    const words = wordsOf(command);
    const isTopic = words[0] === 'help' && Object.hasOwn(helpTopics, words[1] ?? '');
    const isPattern = words.some((word) => /^(NAME|TOPIC|COMMAND)$/.test(word));
    if (isTopic || isPattern || mistakes.has(command)) continue;
    const fault = await parseCommandLine(
      'cloudctl',
      { kind: 'group', summary: '', children: commandTree },
      words,
    ).catch(String);
    // The bare name of a command stands for the command, not for a line to be pasted.
    const isName = words.every((word) => /^[a-z]+$/.test(word)) && String(fault).includes('missing argument');
    if (typeof fault === 'string' && !isName) wrong.push(`${command}: ${fault}`);
  }
  expect(wrong).toEqual([]);
}, 60_000);

it('a command without its argument is found', async () => {
  const words = wordsOf('cloudctl droplets get');
  await expect(
    parseCommandLine('cloudctl', { kind: 'group', summary: '', children: commandTree }, words),
  ).rejects.toThrow(CliError);
});

/** Shown as what a person may type by mistake. */
const mistakes: ReadonlySet<string> = new Set(['cloudctl login']);

function shownIn(): readonly string[] {
  const below = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name));
  // The pages of docs/contributing show commands that they add.
  const files = [...below('src'), ...below('docs')].filter((file) =>
    /^(?!.*[\\/]contributing[\\/]).*\.(ts|md)$/.test(file),
  );
  return [...files, ...['README.md', 'SECURITY.md', 'CHANGELOG.md'].map((name) => join(root, name))];
}

/** In backquotes, as hints and pages have them; one that is put together from parts is not whole here. */
function commandsIn(text: string): readonly string[] {
  const quoted = [...text.matchAll(/\\?`(cloudctl [^`\n]+?)\\?`/g)].map(([, command]) => command ?? '');
  const prompted = [...text.matchAll(/^\$ (?:\w+=\S+ )*(cloudctl .+)$/gm)].map(([, command]) => command ?? '');
  return [...quoted, ...prompted].filter((command) => !command.includes('${'));
}

/** As a shell parts them, up to what belongs to the shell. */
function wordsOf(command: string): readonly string[] {
  const [alone = ''] = command.split(/ (?:[|&;#]|>|<)/);
  const words = alone.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.slice(1).map((word) => word.replaceAll(/["']/g, ''));
}

it('no page and no script installs the program from npm by its name, which is not published there', () => {
  // A path, an archive and a packed file are no names; `npx cloudctl` would ask the registry where nothing is installed.
  const byName =
    /\b(?:npm\s+(?:i|in|install|add|exec|x|update)|npx|pnpm\s+(?:add|dlx)|yarn\s+(?:add|dlx)|bunx?(?:\s+(?:add|x))?)\s+(?:[^\n`|;&]*\s)?['"`]?cloudctl(?=$|[\s@'"`])/m;
  expect(byName.test('npm install --prefix "$HOME/x" --ignore-scripts cloudctl@0.1.0')).toBe(true);
  expect(byName.test('npx cloudctl --help')).toBe(true);
  expect(byName.test('npm install -g ./cloudctl-0.1.0.tgz')).toBe(false);
  const folders = ['docs', 'scripts', 'docker', '.github', 'src', 'bench'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const tops = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'action.yml', 'package.json'];
  const texts = [...tops, ...files].filter((file) => /(\.(md|mjs|ts|sh|ya?ml|json)|Dockerfile)$/.test(file));
  expect(texts.filter((file) => byName.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
