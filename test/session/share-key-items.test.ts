import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { profilePaths } from '../../src/session/profile-paths.ts';
import { findShareKeys, readShareKeys, removeShareKeys, writeShareKeys } from '../../src/session/share-key-items.ts';
import { createShareKeys, encodeShareKeys } from '../../src/shared-store/share-keys.ts';
import { testHost } from '../fixtures/host.ts';
import { keychainStoreOf } from '../fixtures/session.ts';

function placesOf(env: Readonly<Record<string, string>> = {}) {
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  return { place, env, file: createFileCredentialStore(place), keychain: keychainStoreOf(host) };
}

it('the keys are in the variable, else in a file of mode 0600, else in the keychain', async () => {
  const [first, second, third] = [1, 2, 3].map(() => createShareKeys(randomBytes));
  const places = placesOf();
  await expect(readShareKeys(places)).rejects.toMatchObject({ code: 'not_logged_in' });
  await writeShareKeys(places.keychain, third!);
  expect(await findShareKeys(places)).toMatchObject({ from: 'keychain', keys: { share: third!.share } });
  await writeShareKeys(places.file, second!);
  expect(await findShareKeys(places)).toMatchObject({ from: 'file', keys: { share: second!.share } });
  expect(statSync(places.place.shareFile).mode & 0o777).toBe(0o600);
  const env = { CLOUDCTL_STORE_KEY: `${encodeShareKeys(first!).reveal()}\n` };
  expect(await findShareKeys({ ...places, env })).toMatchObject({ from: 'variable', keys: { share: first!.share } });
  await removeShareKeys(places);
  expect(await findShareKeys(places)).toBeUndefined();
});

it('damaged keys are an error and never a missing key', async () => {
  await expect(readShareKeys(placesOf({ CLOUDCTL_STORE_KEY: 'secret' }))).rejects.toMatchObject({ code: 'usage' });
});
