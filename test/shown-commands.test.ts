import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CliError } from '../src/base/errors.ts';
import { parseLine } from '../src/cli/parse.ts';
import { commandTree } from '../src/commands/index.ts';
import { helpTopics } from '../src/help-topics/help-topics.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it('every command that a hint, an error or a page shows whole is one that the program takes', async () => {
  const wrong: string[] = [];
  const shown = new Set(shownIn().flatMap((file) => commandsIn(readFileSync(file, 'utf8'))));
  for (const command of shown) {
    const words = wordsOf(command);
    const isPattern = words.some((word) => /^(NAME|TOPIC|COMMAND)$/.test(word));
    if (isPattern || mistakes.has(command)) continue;
    const fault = await faultOf(words);
    // The bare name of a command stands for the command, not for a line to be pasted.
    const isName = words.every((word) => /^[a-z]+$/.test(word)) && String(fault).includes('missing argument');
    if (fault !== undefined && !isName) wrong.push(`${command}: ${fault}`);
  }
  expect(wrong).toEqual([]);
}, 60_000);

it('every command in a code block of a page is one that the program takes', async () => {
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  for (const { page, text } of blocks)
    for (const words of simpleCommands(text)) {
      const at = words.findIndex((word) => programNames.test(word));
      // Other programs have an object of this name, and a function passes on what it was given.
      if (at === -1 || /^(kubectl|vault)$/.test(words[0] ?? '') || words.at(-1) === '$@') continue;
      counts[page] = (counts[page] ?? 0) + 1;
      const fault = await faultOf(words.slice(at + 1));
      if (fault !== undefined) wrong.push(`${page}: ${words.slice(at).join(' ')}: ${fault}`);
    }
  expect(wrong).toEqual([]);
  // None was overlooked that stands at the begin of a line.
  for (const page of new Set(blocks.map((block) => block.page))) {
    const plain = blocks
      .filter((block) => block.page === page)
      .flatMap(({ text }) => text.match(/^cloudctl [a-z-]/gm) ?? []);
    expect([page, counts[page] ?? 0]).toEqual([page, expect.toSatisfy((count: number) => count >= plain.length)]);
  }
}, 60_000);

it('every command in a topic of the help is one that the program takes', async () => {
  const wrong: string[] = [];
  for (const topic of Object.values(helpTopics)) {
    const { text, examples = [] } = await topic.load();
    const lines = [...examples.map(({ command }) => command), ...(text.match(/^ +cloudctl .*/gm) ?? [])];
    for (const line of lines)
      for (const words of simpleCommands(line)) {
        const at = words.indexOf('cloudctl');
        const fault = at === -1 ? undefined : await faultOf(words.slice(at + 1));
        if (fault !== undefined) wrong.push(`${line}: ${fault}`);
      }
  }
  expect(wrong).toEqual([]);
});

it('every code block of a page is run by a test, or listed with the reason why it is not', () => {
  const isRun = ({ page, language }: ShownBlock): boolean =>
    runBy.some((one) => one.blocks.test(`${page} ${language}`));
  const left = blocks
    .filter((block) => !isRun(block))
    .map(({ page, text }) => {
      const name = `${page}: ${text.split('\n')[0]}`;
      return Object.hasOwn(notRun, name) ? name : page;
    });
  // A block that is run now leaves the list, and a new one that no test runs enters it.
  expect([...new Set(left)].sort()).toEqual(Object.keys(notRun).sort());
  for (const { test, words } of [...runBy, ...Object.values(notRun).filter((why) => typeof why !== 'string')])
    expect([test, readFileSync(join(root, test), 'utf8')]).toEqual([test, expect.stringContaining(words)]);
});

it('a command without its argument is found', async () => {
  expect(await faultOf(['droplets', 'get'])).toContain('missing argument');
  expect(await faultOf(['droplets', 'list', '--no-such-option'])).toContain('--no-such-option');
  expect(await faultOf(['droplets', 'list', '-o', 'json'])).toBeUndefined();
});

/** What the program objects to. */
async function faultOf(words: readonly string[]): Promise<string | undefined> {
  if (words[0] === 'help' && Object.hasOwn(helpTopics, words[1] ?? '')) return undefined;
  try {
    await parseLine('cloudctl', { kind: 'group', summary: '', children: commandTree }, words);
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}

it('the commands of a block are found as a shell finds them', () => {
  const text = `a=1 cloudctl one "x y" 'z' >out 2>&1 # cloudctl comment
if ! cloudctl two | jq '.a | b' && (cloudctl three); then :; fi
b="$(cloudctl four --x "$c")" cloudctl five \\
  --six`;
  expect(simpleCommands(text).filter((words) => words.includes('cloudctl'))).toEqual([
    ['a=1', 'cloudctl', 'one', 'x y', 'z'],
    ['if', '!', 'cloudctl', 'two'],
    ['cloudctl', 'three'],
    ['cloudctl', 'four', '--x', '$c'],
    ['b=$(cloudctl four --x "$c")', 'cloudctl', 'five', '--six'],
  ]);
});

/** A file that does what a block shows, with words that it has. */
interface Evidence {
  readonly test: string;
  readonly words: string;
}

/** Tests that run every block of these pages and languages, with the words by which they find the pages. */
const runBy: readonly (Evidence & { readonly blocks: RegExp })[] = [
  { blocks: /^README\.md sh$/, test: 'test/e2e/guides.test.ts', words: "blocksOf('README.md')" },
  {
    blocks: /^docs\/guides\/(?!containers|pipelines)\S+ (sh|js)$/,
    test: 'test/e2e/guides.test.ts',
    words: "readdirSync(join(root, 'docs/guides'))",
  },
  {
    blocks: /^docs\/(preflight|migration|fix-scripts)\.md /,
    test: 'test/e2e/guides.test.ts',
    words: "blockWith('docs/fix-scripts.md'",
  },
  { blocks: /^docs\/guides\/pipelines\.md /, test: 'test/e2e/pipelines.test.ts', words: 'docs/guides/pipelines.md' },
  { blocks: /^docs\/contributing\/add-/, test: 'test/e2e/contributing.test.ts', words: 'docs/contributing/' },
  { blocks: /^docs\/library\/\S+ js$/, test: 'test/e2e/library.test.ts', words: "'docs/library'" },
  { blocks: /^docs\/scripting\.md sh$/, test: 'test/e2e/batch/scripts-page.ts', words: 'docs/scripting.md' },
];

/**
 * The blocks that no test runs as they stand, each by its page, or its page and first line: the reason, or the file that does the
 * same.
 */
const notRun: Readonly<Record<string, string | Evidence>> = {
  'CONTRIBUTING.md': { test: '.ci/run', words: 'step npm ci --no-audit --no-fund\nstep tests test\n' },
  'docs/contributing/change-a-message.md':
    'npm test runs the same steps, and checks that nothing is left to fix or generate',
  'docs/guides/containers.md':
    'needs a container engine; test/e2e/containers.test.ts carries out its services in network namespaces',
  "docs/library/sandbox.md: import { sandboxFixture } from 'cloudctl/sandbox';": {
    test: 'test/consumers/suite/sandbox.spec.ts',
    words: 'sandboxFixture({ seed: 1 })',
  },
  "docs/library/sandbox.md: import { test as base, expect } from '@playwright/test';": {
    test: 'test/consumers/browser/login.spec.ts',
    words: 'sandboxFixture({ seed: 1 })',
  },
  'docs/reference/commands.md': 'examples of the command table, each for an account of its own; all are parsed above',
  'docs/scripting.md: ': 'two settings of CI systems',
  'docs/scripting.md: /usr/bin/cloudctl droplets create --names-from /etc/cloudctl/names --if-exists skip --retry-for 1h --size s-1vcpu-1gb --image ubuntu-24-04-x64':
    'a unit of systemd; its command is parsed above',
  'docs/without-node.md: npm ci': { test: 'test/standalone/packages.test.ts', words: 'scripts/release-files.mjs' },
  'docs/without-node.md: npm run build:standalone': { test: 'scripts/test.mjs', words: 'await buildStandalone(' },
  'docs/without-node.md: bun node_modules/cloudctl/bin/cloudctl.cjs --version': {
    test: 'scripts/other-runtimes.mjs',
    words: "['deno', 'run -A']",
  },
};

interface ShownBlock {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

/** The names of the program in code blocks, as a word. */
const programNames = /^(cloudctl|\S*\/cloudctl|\S*bin\/cloudctl\.cjs|scripts\/demo\.mjs)$/;

/** Code blocks that are not for reading only. */
const runnable = /^(sh|bash|console|js|mjs|ts|yaml|groovy|ini)\b/;

const pages: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort(),
];

const blocks: readonly ShownBlock[] = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .map(([, language = '', text = '']) => ({ page, language, text: scriptOf(language, text) }))
    .filter(({ language }) => runnable.test(language)),
);

/** What a shell gets of a block. */
function scriptOf(language: string, text: string): string {
  if (language === 'console') return (text.match(/^\$ .*(?:\\\n.*)*/gm) ?? []).map((line) => line.slice(2)).join('\n');
  if (language === 'yaml') return (text.match(/^ *- .*/gm) ?? []).map(listItem).join('\n');
  if (language === 'groovy') return [...text.matchAll(/'''([\s\S]*?)'''/g)].map(([, script]) => script).join('\n');
  if (language === 'ini') return [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, line]) => line).join('\n');
  return text;
}

function listItem(line: string): string {
  return line.replace(/^ *- /, '').replace(/^'(.*)'$/, '$1');
}

/** The simple commands of a script, without redirections, each as its words; those of `$( )` are commands of their own. */
function simpleCommands(script: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  let words: string[] = [];
  const token =
    /\\\n|[ \t]+|#[^\n]*|\d*(?:>>|>&|<<-?|[<>])[ \t]*(?:&?\d|"[^"]*"|'[^']*'|[^\s;|&()]+)|[\n;|&()]+|((?:\\.|'[^']*'|"(?:\$\((?:[^()]|\([^()]*\))*\)|\\[\s\S]|[^"])*"|\$\((?:[^()]|\([^()]*\))*\)|[^\s;|&()<>'"\\])+)/gy;
  for (const [text, word] of script.matchAll(token)) {
    if (word !== undefined) {
      for (const [, inner = ''] of word.matchAll(/\$\(((?:[^()]|\([^()]*\))*)\)/g))
        found.push(...simpleCommands(inner).map((one) => [...one]));
      words.push(word.replaceAll(/^"([\s\S]*)"$|^'([\s\S]*)'$|^(\w+=)"([\s\S]*)"$/g, '$1$2$3$4'));
    } else if (/^[\n;|&()]/.test(text)) {
      found.push(words);
      words = [];
    }
  }
  return [...found, words].filter((one) => one.length > 0);
}

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

it('no line for a shell has a comment, which an interactive zsh passes to the command as words', () => {
  expect(commented('npm ci && npm test   # all')).toBe(true);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a line for a shell.
  expect(commented('grep \'# x\' file && echo "# y" ${name#prefix} $# https://x/#y')).toBe(false);
  const pages = [...shownIn(), ...['CONTRIBUTING.md', 'llms.txt'].map((name) => join(root, name))].filter((file) =>
    /\.(md|txt)$/.test(file),
  );
  const inPages = pages.flatMap((file) => shellLines(readFileSync(file, 'utf8')).filter(commented));
  // What the program and its scripts print for a shell is text in their sources: two spaces stand before such a comment.
  const sources = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => join(root, folder, name)),
  );
  const inSources = sources.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /\S {2,}# /.test(line)),
  );
  expect([...inPages, ...inSources]).toEqual([]);
});

it('no block for a shell has a line after a login, which would read that line from the terminal', () => {
  const pages = shownIn().filter((file) => file.endsWith('.md'));
  const blocks = pages.flatMap((file) => blocksFor(readFileSync(file, 'utf8'), /^(?:sh|bash|zsh)$/));
  const unsafe = blocks.flatMap((block) => block.trimEnd().split('\n').slice(0, -1)).filter(readsTerminal);
  expect(blocks.some((block) => block.includes(' auth login &&\n'))).toBe(true);
  expect(unsafe).toEqual([]);
});

/** Whether a login of this line would read the lines below it: the shell reads them first where they belong to its command. */
function readsTerminal(line: string): boolean {
  return / auth (?:login|setup)\b/.test(line) && !/(?:&&|\\)$|<|--no-input|setup .*\)$/.test(line);
}

function blocksFor(text: string, language: RegExp): readonly string[] {
  const blocks = [...text.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)];
  return blocks.flatMap(([, name = '', block = '']) => (language.test(name) ? [block] : []));
}

/** The lines of the blocks for a shell; the lines of a here-document and those that a `console` prints are not read by it. */
function shellLines(text: string): readonly string[] {
  const lines = blocksFor(text, /^(?:sh|bash|zsh)$/).flatMap((block) =>
    block.replaceAll(/(<<'?(\w+)'?.*\n)[\s\S]*?^\2$/gm, '$1').split('\n'),
  );
  const typed = blocksFor(text, /^console$/).flatMap((block) => block.match(/^\$ .*$/gm) ?? []);
  return [...lines, ...typed];
}

/** Whether a `#` outside of quotes begins a word. */
function commented(line: string): boolean {
  return /(?:^|\s)#/.test(line.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, '""'));
}
