import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeHelp, storedCommand, storedPage } from '../../src/cli/stored-help.ts';
import { type Bundle, bundleProgram } from '../platform/bundle.ts';

let program: Bundle;
beforeAll(async () => {
  const text = `import { storedCommand, storedPage } from './src/cli/stored-help.ts';
    const [kind, ...words] = process.argv.slice(2);
    const found = kind === 'page' ? storedPage(words)?.toString() : storedCommand(words);
    process.stdout.write(JSON.stringify(found ?? null));`;
  program = await bundleProgram({ text }, 'esm');
});
afterAll(() => program.remove());

const description = {
  ...{ words: ['x', 'db'], summary: 'größe', synopsis: '', arguments: [], options: [], examples: [] },
  ...{ environment: [], commands: [] },
};
const stored = encodeHelp([
  { words: [], page: 'root\n' },
  { words: ['db'], page: 'db, größer\n', description },
  { words: ['d'], page: 'db, größer\n', description },
  { words: ['help', 'output'], page: 'topic\n' },
]);

function found(content: string, ...words: readonly string[]): unknown {
  writeFileSync(join(program.folder, 'help.txt'), content);
  return JSON.parse(execFileSync(process.execPath, [program.script, ...words], { encoding: 'utf8' }));
}

test.each([
  { words: '--help', page: 'root\n' },
  { words: '-h', page: 'root\n' },
  { words: 'help', page: 'root\n' },
  { words: 'db --help', page: 'db, größer\n' },
  { words: 'd -h', page: 'db, größer\n' },
  { words: 'help db', page: 'db, größer\n' },
  { words: 'help output', page: 'topic\n' },
  { words: 'output --help', page: null },
  { words: 'help output --help', page: null },
  { words: 'db', page: null },
  { words: 'db -q --help', page: null },
  { words: '--help db', page: null },
  { words: 'toString --help', page: null },
  { words: '__proto__ --help', page: null },
])('$words has the page $page', ({ words, page }) => {
  expect(found(stored, 'page', ...words.split(' '))).toBe(page);
});

test('a description is kept whole', () => {
  expect(found(stored, 'description', 'db')).toEqual(description);
  expect(found(stored, 'description')).toBe(null);
});

test('equal texts are stored once', () => {
  expect(stored.split('db, größer')).toHaveLength(2);
});

test('a damaged file is like none', () => {
  expect(found('{"db":', 'page', 'help', 'db')).toBe(null);
  expect(found('', 'description', 'db')).toBe(null);
});

test('sources have no stored help', () => {
  expect([storedPage(['--help']), storedCommand([])]).toEqual([undefined, undefined]);
});
