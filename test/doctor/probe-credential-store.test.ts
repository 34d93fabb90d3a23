import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { probeCredentialFolder, probeKeychain } from '../../src/doctor/probe-credential-store.ts';
import type { Keychain, KeychainSession } from '../../src/platform/host.ts';
import { makeFolders } from '../fixtures/folders.ts';
import { memoryKeychain } from '../fixtures/host.ts';

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

function changed(change: Partial<KeychainSession>): Keychain {
  const real = memoryKeychain();
  return { open: (options) => ({ ...real.open(options), ...change }) };
}

test('a folder on a full disk is not cured by owning it', () => {
  const { state } = makeFolders();
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const write = () => {
    throw full;
  };
  expect(probeCredentialFolder(state, 'v', write).hint).toMatch(/^make room/);
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
    ['locked', /it is locked: words/, /unlock it/],
    ['missing', /there is none/, /^`cloudctl to file --profile work` keeps/],
    ['hung', /in time/, /restart/],
    ['failed', /could not be used/, /^`cloudctl to file --profile work` keeps/],
  ] as const)('%s would stop a login, with its own cure', async (why, observed, hint) => {
    const finding = await probe(changed({ write: async () => ({ kind: 'unavailable', why, reason: 'words' }) }));
    expect(finding).toMatchObject({ status: 'failed', observed: expect.stringMatching(observed) });
    expect(finding.hint).toMatch(hint);
  });

  test('one that forgets is found out', async () => {
    expect(await probe(changed({ read: async () => ({ kind: 'absent' }) }))).toMatchObject({
      status: 'failed',
      observed: expect.stringContaining('could not be read back'),
    });
  });
});

describe('the folder of the file store', () => {
  test('a round trip leaves nothing behind', () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const folder = join(folders.state, 'sessions');
    expect(probeCredentialFolder(folder, 'v')).toMatchObject({ status: 'ok' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a folder that is a file would stop a login', () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const folder = join(folders.home, 'sessions');
    writeFileSync(folder, '');
    chmodSync(folder, 0o600);
    expect(probeCredentialFolder(folder, 'v')).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('chmod 700'),
    });
    expect(existsSync(folder)).toBe(true);
  });
});
