import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeHead } from '../../../src/auth/session/journal.ts';
import { existingKeychainAccount, profilePaths } from '../../../src/auth/session/paths.ts';
import {
  type CredentialStore,
  createFileStore,
  createKeychainStore,
  openStore,
  readClientSecret,
  removeLeftovers,
  removeProfileFiles,
  requireAvailable,
  unavailableError,
  writeClientSecret,
} from '../../../src/auth/session/store.ts';
import { loadSession } from '../../../src/auth/session/stored.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { Keychain } from '../../../src/platform/host.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, type TestHostOptions, testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { bindingTo, seedSession, settingsOf } from '../../fixtures/session.ts';
import { sandboxFor } from '../../sandbox/requests.ts';

const stores: readonly (readonly [string, () => CredentialStore])[] = [
  ['file', () => createFileStore(profilePaths(testHost().folders.state, 'work'))],
  ['keychain', () => keychainStore()],
];

function keychainStore(
  items = new Map<string, string>(),
  trouble?: Parameters<typeof memoryKeychain>[1],
  keychain = memoryKeychain(items, trouble),
) {
  return createKeychainStore({
    profile: profileNamed('work'),
    place: profilePaths(testHost().folders.state, 'work'),
    keychain,
    account: () => 'work#abc',
    limit: 3_000,
    onWaiting: () => undefined,
    platform: 'linux',
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
    await createFileStore(place).withItems((items) => items.write('credential', new Secret('x')));
    expect(statSync(place.credentialFile).mode & 0o777).toBe(0o600);
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
  });

  it('that cannot be read or written is unavailable, never empty', async () => {
    const place = profilePaths(testHost().folders.state, 'work');
    mkdirSync(place.credentialFile, { recursive: true });
    const store = createFileStore(place);
    const [read, written] = await store.withItems(async (items) => [
      await items.read('credential'),
      await items.write('credential', new Secret('x')),
    ]);
    expect(read).toMatchObject({ kind: 'unavailable', why: 'file' });
    expect(written).toMatchObject({ kind: 'unavailable', why: 'file' });
    expect(() => requireAvailable(read ?? { kind: 'absent' }, profileNamed('work'))).toThrow(
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
      place: profilePaths(testHost().folders.state, 'a'),
      keychain,
      account: () => 'a',
      limit: 1,
      onWaiting: () => undefined,
      platform: 'darwin',
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
    const error = unavailableError({ kind: 'unavailable', why, reason: 'reason-of-the-system' }, profileNamed('work'));
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1, detail: 'reason-of-the-system' });
    expect(error.hint?.includes('`cloudctl config set credential_store file --profile work`')).toBe(suggestsFile);
    expectGolden('errors', `${error.message}\nhint: ${error.hint}`);
  });
});

describe('the store of a profile', () => {
  async function storeOn(options: TestHostOptions, kind: 'file' | 'keychain') {
    const [host, sandbox] = [testHost(options), await sandboxFor()];
    const place = profilePaths(host.folders.state, 'default');
    const settings = settingsOf(sandbox, { credential_store: kind });
    return { host, sandbox, store: openStore(host, place, settings, { limit: 3_000, onWaiting: () => undefined }) };
  }

  it('in files has the session of the profile', async () => {
    const { host, sandbox, store } = await storeOn({}, 'file');
    await seedSession(host, sandbox);
    expect(store.kind).toBe('file');
    expect(await loadSession(store, bindingTo(sandbox))).toMatchObject({ kind: 'found' });
  });

  it('is the keychain otherwise, with an account of this machine', async () => {
    const items = new Map<string, string>();
    const { host, sandbox, store } = await storeOn({ keychain: memoryKeychain(items) }, 'keychain');
    expect(store.kind).toBe('keychain');
    expect(await loadSession(store, bindingTo(sandbox))).toMatchObject({ kind: 'absent' });
    await store.withItems((inside) => inside.write('credential', new Secret('a')));
    expect([...items.keys()]).toEqual([existingKeychainAccount(profilePaths(host.folders.state, 'default'))]);
  });

  it.runIf(process.getuid !== undefined)('is refused in a folder that others can write to', async () => {
    const { host, sandbox } = await storeOn({}, 'file');
    mkdirSync(host.folders.state, { recursive: true });
    chmodSync(host.folders.state, 0o777);
    const place = profilePaths(host.folders.state, 'default');
    expect(() => openStore(host, place, settingsOf(sandbox), { limit: 3_000, onWaiting: () => undefined })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

describe('a client secret', () => {
  const binding = { authOrigin: 'https://auth.example', clientId: 'client-1' };

  it('is given to the application it was stored for, and to no other', async () => {
    const store = createFileStore(profilePaths(testHost().folders.state, 'work'));
    expect(await readClientSecret(store, binding)).toBeUndefined();
    await writeClientSecret(store, binding, new Secret('hunter2'));
    expect((await readClientSecret(store, binding))?.reveal()).toBe('hunter2');
    expect(await readClientSecret(store, { ...binding, authOrigin: 'https://evil.example' })).toBeUndefined();
    expect(await readClientSecret(store, { ...binding, clientId: 'client-2' })).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"client_secret":"hunter2"}'])('stored as %j is none', async (text) => {
    const store = createFileStore(profilePaths(testHost().folders.state, 'work'));
    await store.withItems((items) => items.write('client', new Secret(text)));
    expect(await readClientSecret(store, binding)).toBeUndefined();
  });

  it('in a keychain that cannot be asked is an error, not an absent one', async () => {
    const store = keychainStore(new Map(), () => 'missing');
    await expect(readClientSecret(store, binding)).rejects.toMatchObject({
      code: 'keychain_unavailable',
      hint: expect.stringContaining(' credential_store file --profile work`'),
    });
    await expect(writeClientSecret(store, binding, new Secret('x'))).rejects.toMatchObject({
      code: 'keychain_unavailable',
    });
  });
});

it('the files of interrupted commands are removed, of this profile alone, and no lock', () => {
  const paths = profilePaths(testHost().folders.state, 'work');
  removeProfileFiles(paths);
  mkdirSync(paths.folder, { recursive: true });
  const kept = ['work.lock', 'work.login-lock', 'work-2.0123456789abcdef.wal', '.work-2.credential.json.1.tmp'];
  const removed = [
    'work.0123456789abcdef.wal',
    'work.0123456789abcdef.wal.42.next',
    '.work.credential.json.1.tmp',
    '.work.probe.1.1.link.tmp',
  ];
  for (const name of [...kept, ...removed, '.work.client.json.9.tmp']) writeFileSync(join(paths.folder, name), '');
  removeProfileFiles(paths);
  expect(readdirSync(paths.folder).sort()).toEqual(kept.sort());
});

it('the leftovers beside a session are temporary files, and journals of other sessions after 35 days', () => {
  const store = createFileStore(profilePaths(testHost().folders.state, 'work'));
  const { folder } = store.place;
  mkdirSync(folder, { recursive: true });
  const now = 1_800_000_000;
  const head = (sid: string, sentAt: number): string => encodeHead({ sid, gen: 2, proof: '0', sentAt, room: 0 });
  const days = (count: number): number => now - count * 86_400;
  const files = {
    'work.credential.json': '',
    'work.0123456789abcdef.wal': head('0123456789abcdef', days(36)),
    'work.1111111111111111.wal': head('1111111111111111', days(34)),
    'work.2222222222222222.wal': head('2222222222222222', days(36)),
    'work-2.2222222222222222.wal': head('2222222222222222', days(36)),
    'work.3333333333333333.wal': 'nobody knows how old this is',
    '.work.credential.json.1.tmp': '',
    '.work-2.credential.json.1.tmp': '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  removeLeftovers(store, '0123456789abcdef', now * 1000);
  const gone = ['work.2222222222222222.wal', '.work.credential.json.1.tmp'];
  expect(readdirSync(folder).sort()).toEqual(
    Object.keys(files)
      .filter((name) => !gone.includes(name))
      .sort(),
  );
});
