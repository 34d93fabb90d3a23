import { expect, it } from 'vitest';
import { profilePaths } from '../../src/auth/session/profile-paths.ts';
import { loadStoredSession } from '../../src/auth/session/stored-session.ts';
import { createProfileCredentialStore } from '../../src/context/profile-store.ts';
import { memoryKeychain, type TestHostOptions, testHost } from '../fixtures/host.ts';
import { bindingTo, seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';

async function storeOn(options: TestHostOptions, kind: 'file' | 'keychain') {
  const host = testHost(options);
  const parts = { host, place: profilePaths(host.folders.state, 'default'), prompts: { interactive: false } };
  const settings = {
    profileName: 'default',
    profile: { name: 'default', isDefault: true },
    isProfileStored: true,
    isProfileNamed: false,
    values: { credential_store: kind },
    clientSecret: undefined,
    accessToken: undefined,
    isAccessTokenIgnored: false,
    storedBaseUrl: undefined,
  };
  return {
    host,
    store: createProfileCredentialStore({ ...parts, stderr: host.stderr }, settings),
  };
}

it('the file store has the session of the profile', async () => {
  const sandbox = await sandboxFor();
  const { host, store } = await storeOn({}, 'file');
  await seedSession(host, sandbox);
  expect(store.kind).toBe('file');
  expect(await loadStoredSession(store, bindingTo(sandbox))).toMatchObject({ kind: 'found' });
});

it('the keychain is used otherwise, with an account of this machine', async () => {
  const items = new Map<string, string>();
  const { store } = await storeOn({ keychain: memoryKeychain(items) }, 'keychain');
  expect(store.kind).toBe('keychain');
  expect(await loadStoredSession(store, bindingTo(await sandboxFor()))).toMatchObject({ kind: 'absent' });
});
