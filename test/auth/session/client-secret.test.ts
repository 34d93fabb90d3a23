import { describe, expect, it } from 'vitest';
import { readStoredClientSecret, writeClientSecret } from '../../../src/auth/session/client-secret.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { createKeychainStore } from '../../../src/auth/session/keychain-store.ts';
import { profilePaths } from '../../../src/auth/session/profile-paths.ts';
import { createWriteAheadFileJournal } from '../../../src/auth/session/write-ahead-journal.ts';
import { Secret } from '../../../src/base/secret.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const binding = { authOrigin: 'https://auth.example', clientId: 'client-1' };

describe('a client secret', () => {
  it('is given to the application it was stored for, and to no other', async () => {
    const store = createFileCredentialStore(profilePaths(testHost().folders.state, 'work'));
    expect(await readStoredClientSecret(store, binding)).toBeUndefined();
    await writeClientSecret(store, binding, new Secret('hunter2'));
    expect((await readStoredClientSecret(store, binding))?.reveal()).toBe('hunter2');
    expect(await readStoredClientSecret(store, { ...binding, authOrigin: 'https://evil.example' })).toBeUndefined();
    expect(await readStoredClientSecret(store, { ...binding, clientId: 'client-2' })).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"client_secret":"hunter2"}'])('stored as %j is none', async (text) => {
    const store = createFileCredentialStore(profilePaths(testHost().folders.state, 'work'));
    await store.withItems((items) => items.write('client', new Secret(text)));
    expect(await readStoredClientSecret(store, binding)).toBeUndefined();
  });

  it('in a keychain that cannot be asked is an error, not an absent one', async () => {
    const store = createKeychainStore({
      profile: profileNamed('work'),
      keychain: memoryKeychain(new Map(), () => 'missing'),
      account: () => 'a',
      limit: 1,
      onWaiting: () => undefined,
      platform: 'linux',
      journal: createWriteAheadFileJournal(profilePaths(testHost().folders.state, 'work')),
    });
    await expect(readStoredClientSecret(store, binding)).rejects.toMatchObject({
      code: 'keychain_unavailable',
      hint: expect.stringContaining(' credential_store file --profile work`'),
    });
    await expect(writeClientSecret(store, binding, new Secret('x'))).rejects.toMatchObject({
      code: 'keychain_unavailable',
    });
  });
});
