import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DatabaseConnectError } from '../../../../src/platform/connect-error.ts';
import { acquireFileLock, type HeldFileLock } from '../../../../src/platform/file-lock.ts';
import { refreshClaimTiming } from '../../../../src/session/claim-token-refresh.ts';
import { createFileCredentialStore } from '../../../../src/session/file-store.ts';
import { createProfileAccessTokenProvider } from '../../../../src/session/profile-access-token-provider.ts';
import { listRefreshJournalFiles, profilePaths } from '../../../../src/session/profile-paths.ts';
import { createSharedCredentialStore } from '../../../../src/session/shared-credential-store.ts';
import { openSharedStore } from '../../../../src/shared-store/open-shared-store.ts';
import { decodeSharedStoreKeys } from '../../../../src/shared-store/shared-store-keys.ts';
import { parseSharedStoreUrl } from '../../../../src/shared-store/store-url.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { profileNamed } from '../../../fixtures/profile.ts';
import { refreshDeps } from '../../../fixtures/session.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { type ShareFixture, shareFixture } from './share-fixture.ts';

describe.skipIf(lacks('redis-server'))('auth share leave', () => {
  it('removes key and copy from the machine, and the session goes on for the others', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const second = fixture.machine('ci-2');
    await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
    await runCloudctl(second, ['auth', 'token']);
    const place = profilePaths(second.folders.state, 'default');
    expect(existsSync(place.sharedCopyFile)).toBe(true);
    expect((await runCloudctl(second, ['auth', 'share', 'leave'])).code).toBe(0);
    expect([place.sharedCopyFile, place.shareFile].map((path) => existsSync(path))).toEqual([false, false]);
    expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
  });

  it('removes nothing while the store cannot be reached, because the copy may be the newest record', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    await fixture.redis.stop();
    expect((await runCloudctl(host, ['auth', 'share', 'leave', '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect(existsSync(profilePaths(host.folders.state, 'default').sharedCopyFile)).toBe(true);
  });
});

/** A refresh whose record could not be stored, because the store went away: the grant is only in the journal of the machine. */
async function refreshWithoutStore(fixture: ShareFixture, host: TestHost, lock?: HeldFileLock): Promise<void> {
  const place = profilePaths(host.folders.state, 'default');
  const keys = decodeSharedStoreKeys(fixture.keysOf(host));
  if (keys === undefined) throw new Error('the machine has no keys');
  const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'the store is away');
  const store = createSharedCredentialStore({
    profile: profileNamed('default'),
    place,
    keys: async () => keys,
    open: async (key) => {
      const real = await openSharedStore(
        parseSharedStoreUrl(fixture.url, () => undefined),
        key,
      );
      return { ...real, run: (operation) => (operation.op === 'commit' ? Promise.reject(away) : real.run(operation)) };
    },
    local: createFileCredentialStore(place),
    location: 'Redis',
    machine: () => 'ci-1#test',
    clock: host.clock,
    random: host.random,
    warn: async () => undefined,
    timing: { ...refreshClaimTiming, commitMs: 100 },
  });
  const held = lock === undefined ? {} : { lock: async () => ({ ...lock, release: () => undefined }) };
  await createProfileAccessTokenProvider({ ...refreshDeps(host, fixture.sandbox, { store }), ...held }).forceRefresh();
}

describe.skipIf(lacks('redis-server'))('a grant that only this machine has', () => {
  const journalOf = (host: TestHost) => listRefreshJournalFiles(profilePaths(host.folders.state, 'default'));

  it('is published before the machine leaves', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
    await refreshWithoutStore(fixture, host);
    expect(journalOf(host)).toHaveLength(1);
    expect((await runCloudctl(host, ['auth', 'share', 'leave'])).code).toBe(0);
    expect(journalOf(host)).toEqual([]);
    expect((await runCloudctl(third, ['auth', 'share', 'status', '-o', 'json'])).json()).toMatchObject({
      generation: 2,
    });
    expect((await runCloudctl(third, ['droplets', 'list'])).code).toBe(0);
  });

  it('is not removed while the store is away', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await refreshWithoutStore(fixture, host);
    await fixture.redis.stop();
    expect((await runCloudctl(host, ['auth', 'share', 'leave', '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect(journalOf(host)).toHaveLength(1);
  });

  it('is not removed if another command received it while the machine was leaving', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    const { lock: path } = profilePaths(host.folders.state, 'default');
    const lock = await acquireFileLock(path, { waitMs: 5_000, clock: host.clock, random: host.random });
    const leaving = runCloudctl(host, ['auth', 'share', 'leave', '-o', 'json']);
    // It has published what it knows, and waits for the lock.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await refreshWithoutStore(fixture, host, lock);
    lock.release();
    expect((await leaving).error()).toMatchObject({ code: 'busy' });
    expect(journalOf(host)).toHaveLength(1);
    expect((await runCloudctl(host, ['auth', 'share', 'leave'])).code).toBe(0);
  });
});

it.skipIf(lacks('redis-server'))('auth remove leaves the share, and auth logout ends the session for all', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const second = fixture.machine('ci-2');
  await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
  await runCloudctl(second, ['auth', 'token']);
  const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
  expect((await runCloudctl(second, ['auth', 'remove', 'default'])).code).toBe(0);
  expect((await runCloudctl(third, ['auth', 'status', '-o', 'json'])).json()).toMatchObject({ store: 'shared' });
  expect((await runCloudctl(third, ['auth', 'logout', '--local'])).code).toBe(2);
  expect((await runCloudctl(third, ['auth', 'logout'])).code).toBe(0);
  expect((await runCloudctl(host, ['auth', 'token', '-o', 'json'])).error()).toMatchObject({ code: 'not_logged_in' });
});
