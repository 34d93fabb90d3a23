import { expect, it } from 'vitest';
import type { LoggedInAccount } from '../../../src/auth/session/account.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { profilePaths } from '../../../src/auth/session/profile-paths.ts';
import { storeLoginSession } from '../../../src/auth/session/store-login.ts';
import { Secret } from '../../../src/base/secret.ts';
import { testHost } from '../../fixtures/host.ts';
import { storedRecord } from '../../fixtures/session.ts';

function depsOn(host = testHost(), changes = {}) {
  const paths = profilePaths(host.folders.state, 'default');
  const accounts: LoggedInAccount[] = [];
  let held = 0;
  const deps = {
    binding: { authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: 'c' },
    store: createFileCredentialStore(paths),
    lock: async () => {
      held += 1;
      return { descriptor: -1, release: () => void held-- };
    },
    clock: host.clock,
    random: host.random,
    writeAccount: (account: LoggedInAccount) => void accounts.push(account),
    ...changes,
  };
  return { deps, accounts, stored: () => storedRecord(paths), held: () => held };
}

const accessToken = new Secret('at-1');

it('stores the tokens with a new session id, key and generation 1, and the account beside them', async () => {
  const { deps, accounts, stored, held } = depsOn();
  const grant = { accessToken, refreshToken: new Secret('rt-1'), expiresIn: 60, scope: 'read', info: { uuid: 'u-1' } };
  const result = await storeLoginSession(deps, grant, { scope: 'write read', flow: 'code' });
  expect(stored()).toMatchObject({ gen: 1, scope: 'read write', accountUuid: 'u-1', authOrigin: 'https://a.example' });
  expect(stored()?.sid).toMatch(/^[0-9a-f]{16}$/);
  expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  expect(accounts).toEqual([result.account]);
  expect(result).toMatchObject({ isScopeAssumed: false, isLifetimeAssumed: false, isAccountKnown: true });
  expect(held()).toBe(0);
});

it('says what the grant did not contain', async () => {
  const { deps } = depsOn();
  const result = await storeLoginSession(deps, { accessToken }, { scope: 'read', flow: 'code' });
  expect(result).toMatchObject({ isScopeAssumed: true, isLifetimeAssumed: true, isAccountKnown: false });
  expect(result.record.expiresAt - result.record.obtainedAt).toBe(30 * 86_400);
});

it('a record that is too long for the store is refused before the lock is taken', async () => {
  const host = testHost();
  const store = { ...createFileCredentialStore(profilePaths(host.folders.state, 'default')), maxLength: 100 };
  const { deps, stored } = depsOn(host, { store, lock: () => Promise.reject(new Error('locked')) });
  const login = storeLoginSession(deps, { accessToken }, { scope: 'read', flow: 'code' });
  await expect(login).rejects.toMatchObject({ code: 'keychain_unavailable' });
  expect(stored()).toBeUndefined();
});

it('a file of names that cannot be written does not end the session that is stored already', async () => {
  const writeAccount = (): never => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  };
  const { deps, stored } = depsOn(testHost(), { writeAccount });
  await storeLoginSession(deps, { accessToken }, { scope: 'read', flow: 'code' });
  expect(stored()?.accessToken.reveal()).toBe('at-1');
});

it('the reserved file of a session that is gone does not put the new session in doubt', async () => {
  const { deps, stored } = depsOn();
  const grant = { accessToken, refreshToken: new Secret('rt-1') };
  const { record } = await storeLoginSession(deps, grant, { scope: 'read', flow: 'code' });
  // A refresh of it got no response, and then its record was removed, as the start of another sandbox does.
  deps.store.journal.reserve(record, { now: 0, random: deps.random }).close();
  await deps.store.withItems((items) => items.remove('credential'));
  const next = await storeLoginSession(deps, grant, { scope: 'read', flow: 'code' });
  expect(stored()?.sid).toBe(next.record.sid);
  expect(deps.store.journal.inspect(next.record)).toMatchObject({ inDoubt: false, hasObsoleteFiles: false });
});
