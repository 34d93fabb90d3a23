import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFileWithReservedSpace, removeFileDurably, renameFileDurably } from '../../src/platform/files.ts';
import { requireReplaceable, writeSecretFile } from '../../src/platform/secret-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'durable-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true });
});

/** What decides which file a power cut leaves, in the order in which the system is asked; `.` is the folder itself. */
function deedsOf(work: () => void): readonly string[] {
  const deeds: string[] = [];
  const open = new Map<number, string>();
  const nameOf = (path: unknown) => (relative(folder, String(path)) || '.').replace(/^\..*\.tmp$/, 'temporary');
  const { openSync, fsyncSync, renameSync, unlinkSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
    const descriptor = openSync(path, ...rest);
    open.set(descriptor, nameOf(path));
    return descriptor;
  });
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    deeds.push(`sync ${open.get(descriptor)}`);
  });
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    renameSync(from, to);
    deeds.push(`rename ${nameOf(from)} to ${nameOf(to)}`);
  });
  vi.spyOn(fs, 'unlinkSync').mockImplementation((path) => {
    unlinkSync(path);
    deeds.push(`remove ${nameOf(path)}`);
  });
  syncBuiltinESMExports();
  work();
  return deeds;
}

/** Windows cannot sync a folder. */
const folderSynced = process.platform === 'win32' ? [] : ['sync .'];

it('what replaces a file has its text on the disk before it is renamed, and the folder after', () => {
  const path = join(folder, 'record');
  const deeds = deedsOf(() => writeSecretFile(path, 'new'));
  expect(deeds).toEqual(['sync temporary', 'rename temporary to record', ...folderSynced]);
});

it('the proof that a file can be replaced makes each of these calls once, and leaves the file', () => {
  const path = join(folder, 'record');
  writeFileSync(path, 'old');
  const deeds = deedsOf(() => requireReplaceable(path, 4096, path));
  expect(deeds).toEqual(['sync temporary', 'rename temporary to temporary', ...folderSynced]);
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old', ['record']]);
});

it('a file with room is on the disk, and its folder after it, before anything is written into it', () => {
  const deeds = deedsOf(() => createFileWithReservedSpace(join(folder, 'wal'), 'head', 8).close());
  expect(deeds).toEqual(['sync wal', ...folderSynced]);
});

it('a file that is renamed keeps its new name after a power cut', () => {
  writeFileSync(join(folder, 'draft'), '');
  const deeds = deedsOf(() => renameFileDurably(join(folder, 'draft'), join(folder, 'wal')));
  expect(deeds).toEqual(['rename draft to wal', ...folderSynced]);
});

it('a file that is removed stays removed after a power cut', () => {
  writeFileSync(join(folder, 'wal'), '');
  const deeds = deedsOf(() => removeFileDurably(join(folder, 'wal')));
  expect(deeds).toEqual(['remove wal', ...folderSynced]);
});

it('where nothing was removed the disk is not waited for', () => {
  expect(deedsOf(() => removeFileDurably(join(folder, 'wal')))).toEqual([]);
});
