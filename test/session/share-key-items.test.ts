import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { profilePaths } from '../../src/session/profile-paths.ts';
import {
  findSharedStoreKeys,
  readSharedStoreKeys,
  removeSharedStoreKeys,
  writeSharedStoreKeys,
} from '../../src/session/share-key-items.ts';
import { createSharedStoreKeys, encodeSharedStoreKeys } from '../../src/shared-store/shared-store-keys.ts';
import { memoryKeychain, testHost } from '../fixtures/host.ts';
import { keychainStoreOf } from '../fixtures/session.ts';

function placesOf(env: Readonly<Record<string, string>> = {}) {
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  return { place, env, file: createFileCredentialStore(place), keychain: keychainStoreOf(host) };
}

it('the keys are in the variable, else in a file of mode 0600, else in the keychain', async () => {
  const [first, second, third] = [1, 2, 3].map(() => createSharedStoreKeys(randomBytes));
  const places = placesOf();
  await expect(readSharedStoreKeys(places)).rejects.toMatchObject({ code: 'not_logged_in' });
  await writeSharedStoreKeys(places.keychain, third!);
  expect(await findSharedStoreKeys(places)).toMatchObject({ from: 'keychain', keys: { share: third!.share } });
  await writeSharedStoreKeys(places.file, second!);
  expect(await findSharedStoreKeys(places)).toMatchObject({ from: 'file', keys: { share: second!.share } });
  expect(statSync(places.place.shareFile).mode & 0o777).toBe(0o600);
  const env = { CLOUDCTL_STORE_KEY: `${encodeSharedStoreKeys(first!).reveal()}\n` };
  expect(await findSharedStoreKeys({ ...places, env })).toMatchObject({
    from: 'variable',
    keys: { share: first!.share },
  });
  await removeSharedStoreKeys(places);
  expect(await findSharedStoreKeys(places)).toBeUndefined();
});

it('damaged keys are an error and never a missing key', async () => {
  await expect(readSharedStoreKeys(placesOf({ CLOUDCTL_STORE_KEY: 'secret' }))).rejects.toMatchObject({
    code: 'usage',
  });
});

it('a machine without a keychain has no key in it, and a locked keychain keeps the key file', async () => {
  const keys = createSharedStoreKeys(randomBytes);
  let trouble: 'missing' | 'locked' = 'missing';
  const host = testHost({ keychain: memoryKeychain(new Map(), () => trouble) });
  const place = profilePaths(host.folders.state, 'default');
  const places = { env: {}, file: createFileCredentialStore(place), keychain: keychainStoreOf(host) };
  expect(await findSharedStoreKeys(places)).toBeUndefined();
  await writeSharedStoreKeys(places.file, keys);
  trouble = 'locked';
  await expect(removeSharedStoreKeys(places)).rejects.toMatchObject({ code: 'keychain_unavailable' });
  expect(await findSharedStoreKeys(places)).toMatchObject({ from: 'file' });
  trouble = 'missing';
  await removeSharedStoreKeys(places);
  expect(await findSharedStoreKeys(places)).toBeUndefined();
});
