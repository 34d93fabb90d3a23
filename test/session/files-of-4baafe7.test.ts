import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readLoggedInAccountFile } from '../../src/session/account.ts';
import { readStoredClientSecret } from '../../src/session/client-secret.ts';
import type { CredentialStore } from '../../src/session/credential-store.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { createKeychainStore } from '../../src/session/keychain-store.ts';
import { createProfileAccessTokenProvider } from '../../src/session/profile-access-token-provider.ts';
import { profilePaths, readExistingKeychainAccount } from '../../src/session/profile-paths.ts';
import { recoverStoredSession } from '../../src/session/recover-session.ts';
import { buildLoginSessionReport } from '../../src/session/session-report.ts';
import { loadStoredSession } from '../../src/session/stored-session.ts';
import { createWriteAheadFileJournal } from '../../src/session/write-ahead-journal.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { memoryKeychain, type TestHost, testHost } from '../fixtures/host.ts';
import { profileNamed } from '../fixtures/profile.ts';
import { refreshDeps } from '../fixtures/session.ts';

const binding = {
  authOrigin: 'https://cloud.example.com',
  baseOrigin: 'https://api.example.com',
  clientId: 'client-4baafe7',
};
const ready = { auth_url: binding.authOrigin, base_url: binding.baseOrigin, client_id: binding.clientId };

/** A machine with the files that commit 4baafe7 wrote (test/fixtures/4baafe7/session/make.mjs). */
function machineWith(fixture: string): {
  readonly host: TestHost;
  readonly store: (profile?: string) => CredentialStore;
} {
  const folder = fileURLToPath(new URL(`../fixtures/4baafe7/session/${fixture}`, import.meta.url));
  const isKeychain = fixture.startsWith('keychain');
  const items = isKeychain ? JSON.parse(readFileSync(`${folder}/keychain.json`, 'utf8')) : {};
  const host = testHost({ keychain: memoryKeychain(new Map(Object.entries(items))) });
  cpSync(`${folder}/config`, host.folders.config, { recursive: true });
  cpSync(`${folder}/state`, host.folders.state, { recursive: true });
  // git keeps no modes; the program wrote its files for its user alone.
  const { folder: sessions } = profilePaths(host.folders.state, 'default');
  for (const name of readdirSync(sessions)) chmodSync(join(sessions, name), 0o600);
  const store = (profile = 'default'): CredentialStore => {
    const paths = profilePaths(host.folders.state, profile);
    if (!isKeychain) return createFileCredentialStore(paths);
    return createKeychainStore({
      profile: profileNamed(profile),
      keychain: host.keychain,
      account: () => readExistingKeychainAccount(paths) ?? '',
      limit: 1_000,
      onWaiting: () => undefined,
      platform: 'linux',
      journal: createWriteAheadFileJournal(paths),
    });
  };
  return { host, store };
}

describe.each(['file-store', 'keychain'])('the session that 4baafe7 stored in the %s', (fixture) => {
  it('is read with its tokens, account and client secret', async () => {
    const { host, store } = machineWith(fixture);
    const session = await loadStoredSession(store(), binding);
    if (session.kind !== 'found') throw new Error(session.kind);
    expect(session).toMatchObject({ pending: false, inDoubt: false, needsRecovery: false });
    expect(session.record).toMatchObject({ gen: 1, scope: 'read write', ...binding });
    expect(session.record.accessToken.reveal()).toBe('at-default-1');
    expect(session.record.refreshToken?.reveal()).toBe('rt-default-1');
    expect((await readStoredClientSecret(store(), binding))?.reveal()).toBe('client-secret-4baafe7');
    const account = readLoggedInAccountFile(host.folders.config, 'default');
    expect(buildLoginSessionReport('default', session.record, account, store().kind)).toMatchObject({
      name: 'Ada Example',
      email: 'ada@example.com',
      team_name: 'Team Example',
      scope_verified: true,
      expires_at: '2026-02-01T03:04:05.000Z',
      flow: 'code',
    });
  });

  it('is refreshed and stored as the next generation', async () => {
    const { host, store } = machineWith(fixture);
    const body = { access_token: 'at-2', refresh_token: 'rt-2', token_type: 'bearer', expires_in: 60, scope: 'read' };
    const createSender = async () => async () => ({
      status: 200,
      headers: { get: () => 'application/json' },
      text: async () => JSON.stringify(body),
      body: (async function* () {
        yield Buffer.from(JSON.stringify(body));
      })(),
    });
    const session = createProfileAccessTokenProvider(
      refreshDeps(host, { ready } as never, { store: store(), createSender }),
    );
    expect((await session.forceRefresh()).gen).toBe(2);
    expect(await loadStoredSession(store(), binding)).toMatchObject({ kind: 'found', record: { gen: 2 } });
  });

  it('is reported by auth status', async () => {
    const { host } = machineWith(fixture);
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(JSON.parse(ran.out)).toMatchObject({ profile: 'default', email: 'ada@example.com', pending_write: false });
  });
});

it('a session of the implicit flow of 4baafe7 is read as one', async () => {
  const { host, store } = machineWith('file-store');
  const session = await loadStoredSession(store('implicit'), binding);
  if (session.kind !== 'found') throw new Error(session.kind);
  expect(session.record.refreshToken).toBeUndefined();
  const report = buildLoginSessionReport(
    'implicit',
    session.record,
    readLoggedInAccountFile(host.folders.config, 'implicit'),
    'file',
  );
  expect(report).toMatchObject({ flow: 'implicit', scope_verified: false });
});

describe.each([
  ['file-store-written', true],
  ['keychain-sealed', true],
  ['file-store-reserved', false],
  ['keychain-reserved', false],
])('the refresh of 4baafe7 that was interrupted (%s)', (fixture, isPending) => {
  it(isPending ? 'is promoted to the next generation' : 'leaves the session in doubt', async () => {
    const { host, store } = machineWith(fixture);
    const before = await loadStoredSession(store(), binding);
    expect(before).toMatchObject({ kind: 'found', pending: isPending, inDoubt: !isPending, needsRecovery: true });
    const deps = { ...refreshDeps(host, { ready } as never), binding, store: store() };
    const found = await store().withItems((items) => recoverStoredSession(deps, items));
    expect(found.record.gen).toBe(isPending ? 2 : 1);
    expect(found.record.accessToken.reveal()).toBe(isPending ? 'at-default-2' : 'at-default-1');
    expect(await loadStoredSession(store(), binding)).toMatchObject({ pending: false, inDoubt: !isPending });
  });
});
