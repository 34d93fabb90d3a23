import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type CredentialStore,
  credentialStoreUnavailableError,
  requireCredentialStoreAvailable,
} from '../../../src/auth/session/credential-store.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { createKeychainStore } from '../../../src/auth/session/keychain-store.ts';
import {
  profilePaths,
  readExistingKeychainAccount,
  readOrCreateKeychainAccount,
} from '../../../src/auth/session/profile-paths.ts';
import { createWriteAheadFileJournal } from '../../../src/auth/session/write-ahead-journal.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { Keychain } from '../../../src/platform/host.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const stores: readonly (readonly [string, () => CredentialStore])[] = [
  ['file', () => createFileCredentialStore(profilePaths(testHost().folders.state, 'work'))],
  ['keychain', () => keychainStore()],
];

function keychainStore(
  items = new Map<string, string>(),
  trouble?: Parameters<typeof memoryKeychain>[1],
  keychain = memoryKeychain(items, trouble),
) {
  return createKeychainStore({
    profile: profileNamed('work'),
    keychain,
    account: () => 'work#abc',
    limit: 3_000,
    onWaiting: () => undefined,
    platform: 'linux',
    journal: createWriteAheadFileJournal(profilePaths(testHost().folders.state, 'work')),
  });
}

describe.each(stores)('the %s store', (kind, create) => {
  it('gives back what it was given, and nothing before', async () => {
    const store = create();
    expect(store.kind).toBe(kind);
    const seen = await store.withItems(async (items) => {
      const before = await items.read('credential');
      const written = await items.write('credential', new Secret('{"v":1}'));
      const after = await items.read('credential');
      return { before, written, after: after.kind === 'found' ? after.value.reveal() : after };
    });
    expect(seen).toEqual({ before: { kind: 'absent' }, written: { kind: 'done' }, after: '{"v":1}' });
  });

  it('keeps session and client secret apart', async () => {
    const store = create();
    await store.withItems(async (items) => {
      await items.write('credential', new Secret('a'));
      await items.write('client', new Secret('b'));
      await items.remove('credential');
      expect(await items.read('credential')).toEqual({ kind: 'absent' });
      const client = await items.read('client');
      expect(client.kind === 'found' && client.value.reveal()).toBe('b');
    });
  });

  it('removes what was never there', async () => {
    expect(await create().withItems((items) => items.remove('credential'))).toEqual({ kind: 'done' });
  });
});

describe('the file store', () => {
  it('is for this user alone', async () => {
    const place = profilePaths(testHost().folders.state, 'work');
    await createFileCredentialStore(place).withItems((items) => items.write('credential', new Secret('x')));
    expect(statSync(place.credentialFile).mode & 0o777).toBe(0o600);
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
  });

  it('that cannot be read or written is unavailable, never empty', async () => {
    const place = profilePaths(testHost().folders.state, 'work');
    mkdirSync(place.credentialFile, { recursive: true });
    const store = createFileCredentialStore(place);
    const [read, written] = await store.withItems(async (items) => [
      await items.read('credential'),
      await items.write('credential', new Secret('x')),
    ]);
    expect(read).toMatchObject({ kind: 'unavailable', why: 'file' });
    expect(written).toMatchObject({ kind: 'unavailable', why: 'file' });
    expect(() => requireCredentialStoreAvailable(read ?? { kind: 'absent' }, profileNamed('work'))).toThrow(
      expect.objectContaining({ code: 'keychain_unavailable', exitCode: 1 }),
    );
    chmodSync(place.folder, 0o700);
  });
});

describe('the keychain store', () => {
  it('keeps its items under the profile and the id of the state folder', async () => {
    const items = new Map<string, string>();
    await keychainStore(items).withItems(async (inside) => {
      await inside.write('credential', new Secret('a'));
      await inside.write('client', new Secret('b'));
    });
    expect([...items]).toEqual([
      ['work#abc', 'a'],
      ['work#abc:client', 'b'],
    ]);
  });

  it('ends its helper when the visit fails', async () => {
    let closed = 0;
    const close = async () => {
      closed += 1;
    };
    const keychain = {
      open: () => ({ ...memoryKeychain().open({ timeoutMs: 1 }), close }),
    };
    const store = createKeychainStore({
      profile: profileNamed('a'),
      keychain,
      account: () => 'a',
      limit: 1,
      onWaiting: () => undefined,
      platform: 'darwin',
      journal: createWriteAheadFileJournal(profilePaths(testHost().folders.state, 'a')),
    });
    await expect(store.withItems(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(closed).toBe(1);
    expect(store.location).toBe('Keychain, service cloudctl, account a');
  });

  it('lets its helper hold the lock it works under', async () => {
    const under: (number | undefined)[] = [];
    const memory = memoryKeychain();
    const keychain: Keychain = {
      open: (options) => {
        under.push(options.lockDescriptor);
        return memory.open(options);
      },
    };
    const store = keychainStore(new Map(), undefined, keychain);
    await store.withItems(async () => undefined, { descriptor: 7, release: () => undefined });
    await store.withItems(async () => undefined);
    expect(under).toEqual([7, undefined]);
  });

  it.each([
    ['locked', false],
    ['missing', true],
    ['hung', false],
    ['failed', true],
  ] as const)('that is %s has its own error, and never reads as empty', async (why, suggestsFile) => {
    const read = await keychainStore(new Map(), () => why).withItems((items) => items.read('credential'));
    expect(read).toMatchObject({ kind: 'unavailable', why });
    const error = credentialStoreUnavailableError(
      { kind: 'unavailable', why, reason: 'reason-of-the-system' },
      profileNamed('work'),
    );
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1, detail: 'reason-of-the-system' });
    expect(error.hint?.includes('`cloudctl config set credential_store file --profile work`')).toBe(suggestsFile);
    expectGolden('errors', `${error.message}\nhint: ${error.hint}`);
  });
});

describe('the id of a state folder', () => {
  it('is made once and kept', () => {
    const host = testHost();
    const place = profilePaths(host.folders.state, 'work');
    expect(readExistingKeychainAccount(place)).toBeUndefined();
    const account = readOrCreateKeychainAccount(place, host.random);
    expect(account).toMatch(/^work#[\w-]{8}$/);
    expect(readOrCreateKeychainAccount(place, host.random)).toBe(account);
    expect(readExistingKeychainAccount(place)).toBe(account);
    expect(readOrCreateKeychainAccount(profilePaths(host.folders.state, 'home'), host.random)).toBe(
      account.replace('work', 'home'),
    );
  });

  it('is another one in another folder', () => {
    const [a, b] = [testHost(), testHost()];
    expect(readOrCreateKeychainAccount(profilePaths(a.folders.state, 'p'), a.random)).not.toBe(
      readOrCreateKeychainAccount(profilePaths(b.folders.state, 'p'), b.random),
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
    expect(readOrCreateKeychainAccount(place, racing)).toBe('work#FIRSTONE');
    expect(existsSync(`${place.folder}/keychain-id.${process.pid}`)).toBe(false);
  });
});
