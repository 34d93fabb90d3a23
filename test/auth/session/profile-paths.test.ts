import fs, { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  profilePaths,
  readExistingKeychainAccount,
  readOrCreateKeychainAccount,
} from '../../../src/auth/session/profile-paths.ts';
import { makeFolders } from '../../fixtures/folders.ts';

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));

function setup() {
  const folders = makeFolders();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    folders.remove();
  });
  const place = profilePaths(folders.state, 'work');
  return { place, idFile: join(place.folder, 'keychain-id'), create: () => readOrCreateKeychainAccount(place, random) };
}

/** A file system without hard links, such as FAT and some network file systems. */
function withoutHardLinks(code = 'EPERM'): void {
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error(`${code}: link`), { code, syscall: 'link' });
  });
  syncBuiltinESMExports();
}

describe('the id of a state folder', () => {
  it('is created although a killed process with the same process ID has left its draft', () => {
    const { place, idFile, create } = setup();
    mkdirSync(place.folder, { recursive: true });
    // Every draft that this process could create next.
    const left = Array.from({ length: 50 }, (_, number) => `.keychain-id.${process.pid}.${number}.tmp`);
    for (const name of left) writeFileSync(join(place.folder, name), '');
    const account = create();
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect(readFileSync(idFile, 'utf8')).toBe(`${account.slice('work#'.length)}\n`);
    expect(readdirSync(place.folder).sort()).toEqual([...left, 'keychain-id'].sort());
  });

  it.each(['EPERM', 'ENOTSUP', 'EISDIR'])('is created without hard links (%s), with mode 0600 and no draft', (code) => {
    const { place, idFile, create } = setup();
    withoutHardLinks(code);
    const account = create();
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect([create(), readExistingKeychainAccount(place)]).toEqual([account, account]);
    expect(readdirSync(place.folder)).toEqual(['keychain-id']);
    if (process.platform !== 'win32') expect(statSync(idFile).mode & 0o777).toBe(0o600);
  });

  it.each(['', '\n', '\0'.repeat(9)])('is created anew when a power failure has left %j', (content) => {
    const { place, idFile, create } = setup();
    mkdirSync(place.folder, { recursive: true });
    writeFileSync(idFile, content);
    expect(readExistingKeychainAccount(place)).toBeUndefined();
    const account = create();
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect([create(), readExistingKeychainAccount(place)]).toEqual([account, account]);
    expect(readdirSync(place.folder)).toEqual(['keychain-id']);
  });

  it.each([true, false])(
    'is the same for two processes that find an empty file at once (hard links: %s)',
    (hasLinks) => {
      const { place, idFile, create } = setup();
      mkdirSync(place.folder, { recursive: true });
      writeFileSync(idFile, '');
      if (!hasLinks) withoutHardLinks();
      const { openSync } = fs;
      let other: string | undefined;
      vi.spyOn(fs, 'openSync').mockImplementation((path, flags, mode) => {
        const descriptor = openSync(path, flags, mode);
        // Another process creates the id after this one has found the file empty and opened it.
        if (path === idFile && flags !== 'r' && other === undefined) {
          other = 'started';
          other = create();
        }
        return descriptor;
      });
      syncBuiltinESMExports();
      const account = create();
      expect(other).toMatch(/^work#[\w-]{8}$/);
      expect([account, readExistingKeychainAccount(place)]).toEqual([other, other]);
    },
  );

  it('is on the disk before its name, and the draft of a failed write is removed', () => {
    const { place, create } = setup();
    const calls: string[] = [];
    const { fsyncSync, linkSync } = fs;
    let isFull = true;
    vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
      if (isFull) throw Object.assign(new Error('ENOSPC: fsync'), { code: 'ENOSPC', syscall: 'fsync' });
      fsyncSync(descriptor);
      calls.push(fs.fstatSync(descriptor).isFile() ? 'sync file' : 'sync folder');
    });
    vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
      linkSync(from, to);
      calls.push('link');
    });
    syncBuiltinESMExports();
    expect(create).toThrow(/ENOSPC/);
    expect(readdirSync(place.folder)).toEqual([]);
    isFull = false;
    create();
    expect(calls).toEqual(['sync file', 'link', 'sync folder']);
  });
});
