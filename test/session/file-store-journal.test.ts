import fs, { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { probeCredentialFolder } from '../../src/doctor/probe-credential-store.ts';
import { Secret } from '../../src/secret.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { createFileStoreRefreshJournal } from '../../src/session/file-store-journal.ts';
import { listTemporaryCredentialFiles, type ProfilePaths, profilePaths } from '../../src/session/profile-paths.ts';
import { makeFolders } from '../fixtures/folders.ts';

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

it.each([
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
])('$who that tries the folder without the lock leaves no trace of a refresh meanwhile', ({ probe, found }) => {
  const place = setup();
  const journal = createFileStoreRefreshJournal(place);
  const { fsyncSync } = fs;
  const states = new Set<string>();
  const spy = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    // Another process with the lock: a refresh, and a logout.
    states.add(JSON.stringify(journal.inspect(stored)));
    journal.removeSession(stored.sid);
  });
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const outcome = probe(place);
  expect(outcome && { status: 'status' in outcome ? outcome.status : outcome.kind }).toEqual(found);
  expect([...states].map((state) => JSON.parse(state))).toEqual([
    expect.objectContaining({ inDoubt: false, hasObsoleteFiles: false }),
  ]);
});
