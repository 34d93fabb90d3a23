import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { extractFile, installedFile } from '../../src/platform/extract.ts';

const bytes = Buffer.from('a library');

describe('extractFile', () => {
  it('writes the file, and its folder for the user alone', () => {
    const folder = join(emptyFolder(), 'state', 'native');
    const path = extractFile(folder, 'a.node', bytes);
    expect(readFileSync(path)).toEqual(bytes);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.node']);
  });

  it('leaves a file with the same bytes as it is', () => {
    const folder = privateFolder();
    const { ino } = statSync(extractFile(folder, 'a.node', bytes));
    expect(statSync(extractFile(folder, 'a.node', bytes)).ino).toBe(ino);
  });

  it.skipIf(process.platform === 'win32')('refuses a folder that others can replace, however deep', () => {
    const above = emptyFolder();
    const folder = join(above, 'a', 'state', 'native');
    extractFile(folder, 'a.node', bytes);
    chmodSync(join(above, 'a'), 0o777);
    expect(() => extractFile(folder, 'a.node', bytes)).toThrow(join(above, 'a'));
  });

  it.each([
    ['a shorter file', (path: string) => writeFileSync(path, 'a')],
    ['a file of the same length', (path: string) => writeFileSync(path, 'a LIBRARY')],
    ['a file that cannot be read', (path: string) => writeFileSync(path, bytes, { mode: 0o000 })],
  ])('replaces %s', (_, create) => {
    const folder = privateFolder();
    create(join(folder, 'a.node'));
    expect(readFileSync(extractFile(folder, 'a.node', bytes))).toEqual(bytes);
    expect(readdirSync(folder)).toEqual(['a.node']);
  });

  it('replaces a link, also one to a file with the same bytes, and not its target', () => {
    for (const content of ['a library', 'of somebody else']) {
      const folder = privateFolder();
      const target = join(emptyFolder(), 'target');
      writeFileSync(target, content);
      symlinkSync(target, join(folder, 'a.node'));
      const path = extractFile(folder, 'a.node', bytes);
      expect(lstatSync(path).isFile()).toBe(true);
      expect(readFileSync(path)).toEqual(bytes);
      expect(readFileSync(target, 'utf8')).toBe(content);
    }
  });

  it.each([
    [
      'a link to a folder',
      (folder: string) => {
        mkdirSync(`${folder}.target`, { mode: 0o700 });
        symlinkSync(`${folder}.target`, folder);
      },
    ],
    ['a file', (folder: string) => writeFileSync(folder, '')],
    [
      'a folder that others can read',
      (folder: string) => {
        mkdirSync(folder);
        chmodSync(folder, 0o750);
      },
    ],
  ])('refuses %s', (_, create) => {
    const folder = join(emptyFolder(), 'native');
    create(folder);
    expect(() => extractFile(folder, 'a.node', bytes)).toThrow(folder);
  });

  it('refuses a folder of another user', () => {
    const folder = privateFolder();
    const own = vi.spyOn(process, 'geteuid').mockReturnValue(4711);
    onTestFinished(() => own.mockRestore());
    expect(() => extractFile(folder, 'a.node', bytes)).toThrow(folder);
    expect(readdirSync(folder)).toEqual([]);
  });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-unpacked-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function privateFolder(): string {
  const folder = join(emptyFolder(), 'native');
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

describe.skipIf(process.getuid?.() !== 0)('installedFile', () => {
  it('finds a file of root with exactly these bytes', () => {
    const folder = privateFolder();
    expect(installedFile(folder, 'a.node', bytes)).toBeUndefined();
    writeFileSync(join(folder, 'a.node'), bytes);
    expect(installedFile(folder, 'a.node', bytes)).toBe(join(folder, 'a.node'));
    expect(installedFile(folder, 'a.node', Buffer.from('a LIBRARY'))).toBeUndefined();
  });

  it.each([
    ['of another user', (path: string) => chownSync(path, 65_534, 65_534)],
    ['that others can write to', (path: string) => chmodSync(path, 0o666)],
    ['in a folder that others can write to', (path: string) => chmodSync(join(path, '..'), 0o777)],
    ['in a folder of another user', (path: string) => chownSync(join(path, '..'), 65_534, 65_534)],
    ['behind a link', (path: string) => replaceByLink(path)],
  ])('finds none %s', (_, change) => {
    const folder = privateFolder();
    const path = join(folder, 'a.node');
    writeFileSync(path, bytes);
    change(path);
    expect(installedFile(folder, 'a.node', bytes)).toBeUndefined();
  });

  it('finds none where files have no user IDs, as on Windows', () => {
    const folder = privateFolder();
    writeFileSync(join(folder, 'a.node'), bytes);
    vi.stubGlobal('process', { ...process, geteuid: undefined });
    try {
      expect(installedFile(folder, 'a.node', bytes)).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

function replaceByLink(path: string): void {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
}
