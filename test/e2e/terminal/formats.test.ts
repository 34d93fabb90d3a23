import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, node, run, startProgram } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';

let folders: Folders;
beforeAll(() => {
  folders = makeFolders();
});
afterAll(() => folders.remove());

// Each of them is a part of the bundle that is loaded when it is asked for, and a library of its own.
test.each([
  ['table', /^Key +Value +Source\nprofile +default +default\n/],
  ['json', /^\[\n {2}\{\n {4}"key": "profile",/],
  ['ndjson', /^\{"key":"profile","value":"default","source":"default"\}\n/],
  ['yaml', /^- key: profile\n {2}value: default\n/],
  ['csv', /^Key,Value,Source\nprofile,default,default\n/],
])('the built program prints %s', async (format, shape) => {
  const ran = await run(['config', 'list', '-o', format], { folders });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(shape);
});

test('the built program understands a query', async () => {
  const ran = await run(['config', 'list', '-o', 'json', '--query', "[?key=='profile'].value"], { folders });
  expect(JSON.parse(ran.stdout)).toEqual(['default']);
});

test.skipIf(lacks('script'))('a terminal that says it has no columns gets the whole table', async () => {
  const words = ['-qec', `'${node}' '${bin}' config list`, '/dev/null'];
  const shown = startProgram('script', words, { folders });
  shown.child.stdin?.end();
  expect(stripVTControlCharacters((await shown.ended).stdout)).toMatch(/Key +Value +Source/);
});

test.skipIf(process.platform !== 'linux')('a version that cannot be written is an error', async () => {
  const ran = await startProgram('/bin/sh', ['-c', `'${node}' '${bin}' --version >/dev/full`], { folders }).ended;
  expect(ran).toMatchObject({ code: 7, stderr: expect.stringMatching(/^error: .*ENOSPC\n$/) });
});
