import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tutorials = ['add-a-command', 'add-a-check', 'add-an-api-resource'];

test.each(tutorials)('the tutorial %s works as it is written', { timeout: 400_000 }, (name) => {
  const copy = copyProject();
  const blocks = readBlocks(readFileSync(join(root, `docs/contributing/${name}.md`), 'utf8'));
  for (const block of blocks) {
    if (block.language === 'sh') runScript(copy, block.text);
    else if (block.language === 'diff') applyDiff(join(copy, block.path), block.text);
    else writeNewFile(join(copy, block.path), block.text);
  }
  expect(blocks.some(({ language }) => language === 'sh')).toBe(true);
});

interface CodeBlock {
  readonly language: string;
  /** From the project's folder; empty for a shell script. */
  readonly path: string;
  readonly text: string;
}

/** The code blocks of a page, whose info string is the language and, but for `sh`, the path of the file. */
function readBlocks(page: string): readonly CodeBlock[] {
  return [...page.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, language = '', path = '', text = '']) => ({
    language,
    path,
    text,
  }));
}

function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cloudctl-tutorial-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const skipped = new Set(['node_modules', '.side', '.git', 'dist', 'dist-test'].map((name) => join(root, name)));
  cpSync(root, copy, { recursive: true, filter: (path) => !skipped.has(path) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function writeNewFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { flag: 'wx' });
}

/** Inserts the lines with `+` after the line before them, which must stand in the file once. */
function applyDiff(path: string, diff: string): void {
  let lines = readFileSync(path, 'utf8').split('\n');
  let at = -1;
  for (const line of diff.trimEnd().split('\n')) {
    if (line.startsWith('+')) {
      at += 1;
      lines = lines.toSpliced(at, 0, line.slice(1));
      continue;
    }
    const matches = lines.flatMap((text, index) => (text === line.slice(1) ? [index] : []));
    expect(matches, `${path}: ${line}`).toHaveLength(1);
    at = matches[0] ?? -1;
  }
  writeFileSync(path, lines.join('\n'));
}

function runScript(folder: string, script: string): void {
  const { PATH, TMPDIR } = process.env;
  const ran = spawnSync('sh', ['-euc', script], {
    cwd: folder,
    env: { PATH, TMPDIR, HOME: folder },
    encoding: 'utf8',
    timeout: 400_000,
  });
  expect(ran.status, `${script}\n${ran.stdout.slice(-4000)}${ran.stderr.slice(-4000)}`).toBe(0);
}
