import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { writeCache } from '../../src/platform/write-v8-code-cache.ts';

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-code-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes the file of one pack into `code-cache` of the folder. */
function write(state: string, name = 'one-0000000f'): void {
  const folder = join(state, 'code-cache');
  const script = new Script('1 + 1');
  const pack = { script, path: join(folder, name), head: 'head ', cachedModules: new Set<string>() };
  writeCache({ folder, incompletePacks: () => [pack] }, ['m1']);
}

function filesIn(state: string): readonly string[] {
  return readdirSync(join(state, 'code-cache')).toSorted();
}

/** Adds a file whose content is a hole of this size. */
function addFile(state: string, name: string, secondsOld: number, size = 10): void {
  const path = join(state, 'code-cache', name);
  writeFileSync(path, '');
  writeFileSync(path, Buffer.alloc(size));
  const time = Date.now() / 1000 - secondsOld;
  utimesSync(path, time, time);
}

test('folder and file are private', () => {
  const state = stateFolder();
  write(state);
  const modes = ['code-cache', 'code-cache/one-0000000f'].map((name) => statSync(join(state, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test('nothing is written without a state folder', () => {
  const state = join(stateFolder(), 'missing');
  write(state);
  expect(existsSync(state)).toBe(false);
});

test('three files of a pack stay, the newest', () => {
  const state = stateFolder();
  mkdirSync(join(state, 'code-cache'), { mode: 0o700 });
  for (const age of [10, 40, 20, 30]) addFile(state, `one-000000${age}`, age);
  addFile(state, 'two-00000050', 50);
  write(state);
  expect(filesIn(state)).toEqual(['one-0000000f', 'one-00000010', 'one-00000020', 'two-00000050']);
});

test('all files together stay below 16 MB', () => {
  const state = stateFolder();
  mkdirSync(join(state, 'code-cache'), { mode: 0o700 });
  for (const [at, pack] of ['two', 'three', 'four'].entries()) addFile(state, `${pack}-00000001`, 10 + at, 6_000_000);
  write(state);
  expect(filesIn(state)).toEqual(['one-0000000f', 'three-00000001', 'two-00000001']);
});

test('temporary files of killed processes are removed', () => {
  const state = stateFolder();
  mkdirSync(join(state, 'code-cache'), { mode: 0o700 });
  addFile(state, '.one-0000000f.1.1.tmp', 3600);
  addFile(state, '.one-0000000f.2.1.tmp', 1);
  write(state);
  expect(filesIn(state)).toEqual(['.one-0000000f.2.1.tmp', 'one-0000000f']);
});

test('a place that cannot be written is no error', () => {
  const state = stateFolder();
  writeFileSync(join(state, 'code-cache'), 'a file');
  write(state);
  rmSync(join(state, 'code-cache'));
  mkdirSync(join(state, 'code-cache/one-0000000f/folder'), { recursive: true });
  write(state);
  expect(filesIn(state)).toEqual(['one-0000000f']);
  if (process.geteuid?.() === 0) return;
  chmodSync(join(state, 'code-cache'), 0o500);
  write(state, 'two-0000000f');
  expect(filesIn(state)).toEqual(['one-0000000f']);
});
