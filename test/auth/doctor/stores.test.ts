import fs, { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { checkStateFolder, probeFolder, probeKeychain } from '../../../src/auth/doctor/stores.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import type { Keychain, OpenedKeychain } from '../../../src/platform/host.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain } from '../../fixtures/host.ts';

it('is ok for a folder of the user alone, and failed when others can write to it', () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const place = profilePaths(folders.state, 'default');
  expect(checkStateFolder(folders.state, place)).toMatchObject({ id: 'state-folder', status: 'ok' });
  chmodSync(place.folder, 0o777);
  expect(checkStateFolder(folders.state, place)).toMatchObject({ id: 'state-folder', status: 'failed' });
});

function probe(keychain: Keychain) {
  const toFile = '`cloudctl to file --profile work`';
  return probeKeychain({
    keychain,
    fileStoreCommand: toFile,
    limit: 1000,
    onWaiting: () => {},
    account: 'doctor#1',
    value: 'v',
  });
}

function changed(change: Partial<OpenedKeychain>): Keychain {
  const real = memoryKeychain();
  return { open: (options) => ({ ...real.open(options), ...change }) };
}

const pathsIn = (folder: string) => ({
  folder,
  credentialFile: join(folder, 'c.json'),
  probeFile: join(folder, 'c.probe'),
});

test('a full disk has a hint of its own', () => {
  const folders = makeFolders();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    folders.remove();
  });
  vi.spyOn(fs, 'writeFileSync').mockImplementation(() => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  const finding = probeFolder(pathsIn(folders.state), 'v');
  expect(finding.status).toBe('failed');
  expect(finding.hint).not.toContain('chmod');
  expect(finding.hint).toContain('CLOUDCTL_STATE_DIR');
});

describe('the keychain', () => {
  test('a round trip leaves nothing behind', async () => {
    const keychain = memoryKeychain();
    expect(await probe(keychain)).toMatchObject({ id: 'keychain', status: 'ok' });
    const session = keychain.open({ timeoutMs: 1000 });
    expect(await session.read('doctor#1')).toEqual({ kind: 'absent' });
    await session.close();
  });

  test.each([
    ['locked', 'gnome-keyring-daemon --unlock'],
    ['missing', '`cloudctl to file --profile work`'],
    ['hung', ''],
    ['failed', '`cloudctl to file --profile work`'],
  ] as const)('one that is %s fails, with a hint for this reason', async (why, hint) => {
    const finding = await probe(changed({ write: async () => ({ kind: 'unavailable', why, reason: 'words' }) }));
    expect(finding).toMatchObject({ id: 'keychain', status: 'failed', observed: expect.stringContaining(': words') });
    expect(finding.hint).toContain(hint);
    expectGolden('doctor', `${finding.observed}\n${finding.hint}`);
  });

  test('one that loses the item fails', async () => {
    const finding = await probe(changed({ read: async () => ({ kind: 'absent' }) }));
    expect(finding.status).toBe('failed');
    expectGolden('doctor', finding.observed);
  });
});

describe('the folder of the file store', () => {
  test('a round trip leaves nothing behind', () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const folder = join(folders.state, 'sessions');
    expect(probeFolder(pathsIn(folder), 'v')).toMatchObject({
      status: 'ok',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a file instead of the folder fails', () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const folder = join(folders.home, 'sessions');
    writeFileSync(folder, '');
    chmodSync(folder, 0o600);
    expect(probeFolder(pathsIn(folder), 'v')).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('chmod 700'),
    });
    expect(existsSync(folder)).toBe(true);
  });
});
