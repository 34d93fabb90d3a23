import fs, { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { CredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { createFileStoreRefreshJournal } from '../../../src/auth/session/file-store-journal.ts';
import {
  listTemporaryCredentialFiles,
  type ProfilePaths,
  profilePaths,
} from '../../../src/auth/session/profile-paths.ts';
import { Secret } from '../../../src/base/secret.ts';
import { probeCredentialFolder } from '../../../src/doctor/probe-credential-store.ts';
import { makeFolders } from '../../fixtures/folders.ts';

const stored: CredentialRecord = {
  sid: '0123456789abcdef',
  gen: 1,
  journalKey: new Secret(Buffer.alloc(32, 'seal').toString('base64url')),
  accessToken: new Secret('at-1'),
  refreshToken: new Secret('rt-1'),
  expiresAt: 2_000,
  obtainedAt: 1_000,
  scope: 'read',
  authOrigin: 'http://127.0.0.1:1',
  baseOrigin: 'http://127.0.0.1:2',
  clientId: 'client-1',
};

function setup(): ProfilePaths {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return profilePaths(folders.state, 'default');
}

/** What a process of that number left when it was killed. */
function left(place: ProfilePaths, pid: number, content: string): void {
  mkdirSync(dirname(place.credentialFile), { recursive: true });
  writeFileSync(join(place.folder, `.${basename(place.credentialFile)}.${pid}.1.tmp`), content, { mode: 0o600 });
}

it('a refresh in doubt keeps its trace, and what else was left is removed', () => {
  const place = setup();
  left(place, 101, '\0'.repeat(4096));
  left(place, 102, '{"torn');
  const journal = createFileStoreRefreshJournal(place);
  expect(journal.inspect(stored)).toMatchObject({ inDoubt: true, hasObsoleteFiles: true });
  journal.removeObsolete(stored, 0);
  expect(listTemporaryCredentialFiles(place).map((path) => basename(path))).toEqual([
    '.default.credential.json.101.1.tmp',
  ]);
  expect(journal.inspect(stored)).toMatchObject({ inDoubt: true, hasObsoleteFiles: false });
});

it('without a refresh token nothing is in doubt, and all that was left is removed', () => {
  const place = setup();
  left(place, 101, '\0'.repeat(4096));
  const journal = createFileStoreRefreshJournal(place);
  const { refreshToken: _none, ...bare } = stored;
  expect(journal.inspect(bare)).toMatchObject({ inDoubt: false });
  journal.removeObsolete(bare, 0);
  expect(readdirSync(place.folder)).toEqual([]);
});

const probes = [
  {
    who: 'a login',
    probe: (place: ProfilePaths) => createFileCredentialStore(place).checkWritable?.(),
    found: undefined,
  },
  {
    who: 'auth doctor',
    probe: (place: ProfilePaths) => probeCredentialFolder(place, 'value'),
    found: { status: 'ok' },
  },
];

it.each(probes)('$who that tests the folder without the lock does not collide with a refresh or a logout', (row) => {
  const place = setup();
  const journal = createFileStoreRefreshJournal(place);
  const { fsyncSync } = fs;
  const states = new Set<string>();
  let isRemoved = false;
  const spy = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    // Another process with the lock: a refresh, and a logout that removes the test file.
    states.add(JSON.stringify(journal.inspect(stored)));
    if (isRemoved) return;
    const before = readdirSync(place.folder).length;
    journal.removeSession(stored.sid);
    isRemoved = readdirSync(place.folder).length < before;
  });
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const outcome = row.probe(place);
  expect(isRemoved).toBe(true);
  expect(outcome && { status: 'status' in outcome ? outcome.status : outcome.kind }).toEqual(row.found);
  expect([...states].map((state) => JSON.parse(state))).toEqual([
    expect.objectContaining({ inDoubt: false, hasObsoleteFiles: false }),
  ]);
  expect(readdirSync(place.folder)).toEqual([]);
});

it.each(probes)('a logout removes what $who has left that was killed while it tested the folder', ({ probe }) => {
  const place = setup();
  mkdirSync(place.folder, { recursive: true });
  writeFileSync(place.credentialFile, 'both tokens', { mode: 0o600 });
  const { linkSync } = fs;
  let left: readonly string[] = [];
  const spy = vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    linkSync(from, to);
    // The test file may vanish at any time.
    left = readdirSync(place.folder).filter((name) => name.endsWith('.tmp'));
    if (from === place.credentialFile) rmSync(to);
  });
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  probe(place);
  expect(left).toHaveLength(2);
  expect(readdirSync(place.folder)).toEqual([basename(place.credentialFile)]);
  for (const name of left) writeFileSync(join(place.folder, name), 'both tokens', { mode: 0o600 });
  createFileStoreRefreshJournal(place).removeSession(stored.sid);
  expect(readdirSync(place.folder)).toEqual([basename(place.credentialFile)]);
});
