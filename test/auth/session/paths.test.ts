import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { probeFolder } from '../../../src/auth/doctor/stores.ts';
import {
  existingKeychainAccount,
  journalPath,
  keychainAccount,
  listJournals,
  listTemporary,
  type ProfilePaths,
  profilePaths,
} from '../../../src/auth/session/paths.ts';
import { createFileStore, removeLeftovers, removeProfileFiles } from '../../../src/auth/session/store.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { testHost } from '../../fixtures/host.ts';

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));

function setup() {
  const folders = makeFolders();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    folders.remove();
  });
  const place = profilePaths(folders.state, 'work');
  return { place, idFile: join(place.folder, 'keychain-id'), create: () => keychainAccount(place, random) };
}

/** A file system without hard links, such as FAT and some network file systems. */
function withoutHardLinks(code = 'EPERM'): void {
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error(`${code}: link`), { code, syscall: 'link' });
  });
  syncBuiltinESMExports();
}

describe('the id of a state folder', () => {
  it('is made once and kept', () => {
    const host = testHost();
    const place = profilePaths(host.folders.state, 'work');
    expect(existingKeychainAccount(place)).toBeUndefined();
    const account = keychainAccount(place, host.random);
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect(keychainAccount(place, host.random)).toBe(account);
    expect(existingKeychainAccount(place)).toBe(account);
    expect(keychainAccount(profilePaths(host.folders.state, 'home'), host.random)).toBe(
      account.replace('work', 'home'),
    );
  });

  it('is another one in another folder', () => {
    const [a, b] = [testHost(), testHost()];
    expect(keychainAccount(profilePaths(a.folders.state, 'p'), a.random)).not.toBe(
      keychainAccount(profilePaths(b.folders.state, 'p'), b.random),
    );
  });

  it('that another process made first is taken over', () => {
    const host = testHost();
    const place = profilePaths(host.folders.state, 'work');
    mkdirSync(place.folder, { recursive: true });
    const racing = (bytes: number): Uint8Array => {
      writeFileSync(`${place.folder}/keychain-id`, 'FIRSTONE\n');
      return host.random(bytes);
    };
    expect(keychainAccount(place, racing)).toBe('work#FIRSTONE');
    expect(existsSync(`${place.folder}/keychain-id.${process.pid}`)).toBe(false);
  });

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
    expect([create(), existingKeychainAccount(place)]).toEqual([account, account]);
    expect(readdirSync(place.folder)).toEqual(['keychain-id']);
    if (process.platform !== 'win32') expect(statSync(idFile).mode & 0o777).toBe(0o600);
  });

  it.each(['', '\n', '\0'.repeat(9)])('is created anew when a power failure has left %j', (content) => {
    const { place, idFile, create } = setup();
    mkdirSync(place.folder, { recursive: true });
    writeFileSync(idFile, content);
    expect(existingKeychainAccount(place)).toBeUndefined();
    const account = create();
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect([create(), existingKeychainAccount(place)]).toEqual([account, account]);
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
      expect([account, existingKeychainAccount(place)]).toEqual([other, other]);
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

describe('the files of a profile', () => {
  it('are its journals and temporary files, and never those of another profile', () => {
    const { place } = setup();
    mkdirSync(place.folder, { recursive: true });
    const journal = basename(journalPath(place, '0123456789abcdef'));
    expect(journal).toBe('work.0123456789abcdef.wal');
    const ours = [journal, `${journal}.4711.next`, '.work.credential.json.1.1.tmp', '.work.probe.1.1.link.tmp'];
    const theirs = ['work-2.0123456789abcdef.wal', '.work-2.credential.json.1.1.tmp', 'work.lock', 'keychain-id'];
    for (const name of [...ours, ...theirs]) writeFileSync(join(place.folder, name), '', { mode: 0o600 });
    expect(listJournals(place)).toEqual([{ sid: '0123456789abcdef', path: join(place.folder, journal) }]);
    expect(
      listTemporary(place)
        .map((path) => basename(path))
        .sort(),
    ).toEqual(ours.slice(2).sort());
    removeProfileFiles(place);
    expect(readdirSync(place.folder).sort()).toEqual([...theirs].sort());
  });
});

const sid = '0123456789abcdef';

const probes = [
  {
    who: 'a login',
    probe: (place: ProfilePaths) => createFileStore(place).checkWritable(),
    found: undefined,
  },
  {
    who: 'auth doctor',
    probe: (place: ProfilePaths) => probeFolder(place, 'value'),
    found: { status: 'ok' },
  },
];

it.each(probes)('$who that tests the folder without the lock does not collide with a refresh or a logout', (row) => {
  const { place } = setup();
  const store = createFileStore(place);
  const { fsyncSync } = fs;
  const states = new Set<string>();
  let isRemoved = false;
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    // Another process with the lock: a refresh, and a logout that removes the test file.
    states.add(JSON.stringify(listJournals(place)));
    if (isRemoved) return;
    const before = readdirSync(place.folder).length;
    removeLeftovers(store, sid, Date.now());
    isRemoved = readdirSync(place.folder).length < before;
  });
  syncBuiltinESMExports();
  const outcome = row.probe(place);
  expect(isRemoved).toBe(true);
  expect(outcome && { status: 'status' in outcome ? outcome.status : outcome.kind }).toEqual(row.found);
  expect([...states]).toEqual(['[]']);
  expect(readdirSync(place.folder)).toEqual([]);
});

it.each(probes)('a logout removes what $who has left that was killed while it tested the folder', ({ probe }) => {
  const { place } = setup();
  mkdirSync(place.folder, { recursive: true });
  writeFileSync(place.credentialFile, 'both tokens', { mode: 0o600 });
  const { linkSync } = fs;
  let left: readonly string[] = [];
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    linkSync(from, to);
    // The test file may vanish at any time.
    left = readdirSync(place.folder).filter((name) => name.endsWith('.tmp'));
    if (from === place.credentialFile) rmSync(to);
  });
  syncBuiltinESMExports();
  probe(place);
  expect(left).toHaveLength(2);
  expect(readdirSync(place.folder)).toEqual([basename(place.credentialFile)]);
  for (const name of left) writeFileSync(join(place.folder, name), 'both tokens', { mode: 0o600 });
  removeLeftovers(createFileStore(place), sid, Date.now());
  expect(readdirSync(place.folder)).toEqual([basename(place.credentialFile)]);
});
