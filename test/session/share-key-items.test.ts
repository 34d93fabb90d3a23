import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type HeldFileLock, tryAcquireFileLock } from '../../src/platform/file-lock.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { type ProfilePaths, profilePaths } from '../../src/session/profile-paths.ts';
import {
  findShareEncryptionKeys,
  readShareEncryptionKeys,
  removeShareEncryptionKeys,
  writeShareEncryptionKeys,
} from '../../src/session/share-key-items.ts';
import {
  encodeShareEncryptionKeys,
  generateShareEncryptionKeys,
} from '../../src/shared-store/share-encryption-keys.ts';
import { memoryKeychain, testHost } from '../fixtures/host.ts';
import { keychainStoreOf } from '../fixtures/session.ts';

function placesOf(env: Readonly<Record<string, string>> = {}) {
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  return { place, env, file: createFileCredentialStore(place), keychain: keychainStoreOf(host) };
}

/** Writing needs the lock of the profile. */
async function withLock<T>(place: ProfilePaths, work: (lock: HeldFileLock) => Promise<T>): Promise<T> {
  const lock = tryAcquireFileLock(place.lock);
  if (lock === undefined) throw new Error('the profile is locked');
  return work(lock).finally(() => lock.release());
}

it('the keys are in the variable, else in a file of mode 0600, else in the keychain', async () => {
  const [first, second, third] = [1, 2, 3].map(() => generateShareEncryptionKeys(randomBytes));
  const places = placesOf();
  await expect(readShareEncryptionKeys(places)).rejects.toMatchObject({ code: 'not_logged_in' });
  await withLock(places.place, (lock) => writeShareEncryptionKeys(places.keychain, third!, lock));
  expect(await findShareEncryptionKeys(places)).toMatchObject({ from: 'keychain', keys: { share: third!.share } });
  await withLock(places.place, (lock) => writeShareEncryptionKeys(places.file, second!, lock));
  expect(await findShareEncryptionKeys(places)).toMatchObject({ from: 'file', keys: { share: second!.share } });
  expect(statSync(places.place.shareFile).mode & 0o777).toBe(0o600);
  const env = { CLOUDCTL_STORE_KEY: `${encodeShareEncryptionKeys(first!).reveal()}\n` };
  expect(await findShareEncryptionKeys({ ...places, env })).toMatchObject({
    from: 'variable',
    keys: { share: first!.share },
  });
  await withLock(places.place, (lock) => removeShareEncryptionKeys(places, lock));
  expect(await findShareEncryptionKeys(places)).toBeUndefined();
});

it('damaged keys are an error and never a missing key', async () => {
  await expect(readShareEncryptionKeys(placesOf({ CLOUDCTL_STORE_KEY: 'secret' }))).rejects.toMatchObject({
    code: 'usage',
  });
});

it('a machine without a keychain has no key in it, and a locked keychain keeps the key file', async () => {
  const keys = generateShareEncryptionKeys(randomBytes);
  let trouble: 'missing' | 'locked' = 'missing';
  const host = testHost({ keychain: memoryKeychain(new Map(), () => trouble) });
  const place = profilePaths(host.folders.state, 'default');
  const places = { place, env: {}, file: createFileCredentialStore(place), keychain: keychainStoreOf(host) };
  expect(await findShareEncryptionKeys(places)).toBeUndefined();
  await withLock(place, (lock) => writeShareEncryptionKeys(places.file, keys, lock));
  trouble = 'locked';
  const remove = () => withLock(place, (lock) => removeShareEncryptionKeys(places, lock));
  await expect(remove()).rejects.toMatchObject({ code: 'keychain_unavailable' });
  expect(await findShareEncryptionKeys(places)).toMatchObject({ from: 'file' });
  trouble = 'missing';
  await remove();
  expect(await findShareEncryptionKeys(places)).toBeUndefined();
});
