import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';

const folder = fileURLToPath(new URL('../../golden/e2e/', import.meta.url));

/** Whole commands that hints of the golden files tell a person to paste. */
const commands = new Set(
  readdirSync(folder)
    .map((name) => readFileSync(`${folder}${name}`, 'utf8'))
    .flatMap((text) => [...text.matchAll(/^hint: .*$/gm)])
    .flatMap(([line]) => [...line.matchAll(/`cloudctl ([^`]*)`/g)])
    .map(([, words = '']) => words.replace(/ <.*| …$/, '')),
);

let folders: Folders;
beforeAll(() => {
  folders = makeFolders();
});
afterAll(() => folders.remove());

test.for([...commands])('`cloudctl %s` of a hint is a command that exists', async (command) => {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
  const ran = await run([...words.filter((word) => word !== '--help'), '--help'], { folders });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const path = words.filter((word) => !word.startsWith('-')).slice(0, 1);
  expect(ran.stdout).toContain(['cloudctl', ...path].join(' '));
  const everywhere = (await run(['help', 'options'], { folders })).stdout;
  for (const word of words.filter((one) => one.startsWith('--') && one !== '--help'))
    expect(ran.stdout + everywhere).toContain(word);
});
