import { once } from 'node:events';
import fs, { existsSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Secret } from '../../../../src/base/secret.ts';
import { acquireFileLock } from '../../../../src/platform/file-lock.ts';
import { encodeCredentialRecord } from '../../../../src/session/credential-record.ts';
import type { OpenCredentialStore } from '../../../../src/session/credential-store.ts';
import { listRefreshJournalFiles, profilePaths } from '../../../../src/session/profile-paths.ts';
import type { EncryptedSharedSession } from '../../../../src/shared-store/shared-session.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { recordOf } from '../../../fixtures/session.ts';
import { tokenFor } from '../../../sandbox/requests.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { type ShareFixture, shareFixture } from './share-fixture.ts';
import { refreshWithoutStore, storeWithoutCommit } from './store-without-commit.ts';

/** While the work runs, the call of the file system fails for this path. */
async function withFileFault<Result>(
  call: 'readFileSync' | 'renameSync',
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const real: (...args: readonly unknown[]) => unknown = fs[call].bind(fs) as never;
  const spy = vi.spyOn(fs, call).mockImplementation(((...args: readonly unknown[]) => {
    if (args[call === 'renameSync' ? 1 : 0] === path) throw new Error('EIO: input/output error');
    return real(...args);
  }) as never);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    spy.mockRestore();
    syncBuiltinESMExports();
  }
}

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

  it.each([
    ['login', async (items: OpenCredentialStore, record: Secret) => items.write('credential', record)],
    ['logout', async (items: OpenCredentialStore) => items.remove('credential')],
  ])('is not removed if it is of a %s that the store has not confirmed', async (_name, change) => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    const place = profilePaths(host.folders.state, 'default');
    const lock = await acquireFileLock(place.lock, { waitMs: 5_000, clock: host.clock, random: host.random });
    const leaving = runCloudctl(host, ['auth', 'share', 'leave', '-o', 'json']);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const record = recordOf(host, fixture.sandbox, await tokenFor(fixture.sandbox), { sid: 'feedfeedfeedfeed' });
    const store = storeWithoutCommit(fixture, host);
    await store.withItems((items) => change(items, encodeCredentialRecord(record)), lock);
    const before = readFileSync(place.sharedCopyFile, 'utf8');
    lock.release();
    expect((await leaving).error()).toMatchObject({ code: 'busy' });
    expect([readFileSync(place.sharedCopyFile, 'utf8'), existsSync(place.shareFile)]).toEqual([before, true]);
    expect((await runCloudctl(host, ['auth', 'share', 'leave'])).code).toBe(0);
    expect(existsSync(place.sharedCopyFile)).toBe(false);
  });
});

/** Removes all rows, as Redis without persistence does when it is restarted. */
async function removeRows({ redis }: ShareFixture): Promise<void> {
  const client = connect(redis.port, redis.host);
  await once(client, 'connect');
  client.write('FLUSHALL\r\n');
  await once(client, 'data');
  client.destroy();
}

/** Replaces the row, whatever its version is, as a restored backup or a hostile member with the rights of Redis does. */
async function replaceRow(fixture: ShareFixture, host: TestHost, row: EncryptedSharedSession): Promise<void> {
  await removeRows(fixture);
  const { epoch, sid, gen, kid, record } = row;
  await fixture.withStore(host, (store) =>
    store.run({ op: 'commit', by: 'x', event: 'publish', epoch, sid, gen, kid, record }),
  );
}

async function readRow(fixture: ShareFixture, host: TestHost): Promise<EncryptedSharedSession> {
  const { row } = await fixture.withStore(host, (store) => store.run({ op: 'read' }));
  if (row === undefined) throw new Error('there is no row');
  return row;
}

describe.skipIf(lacks('redis-server'))('a machine does not leave', () => {
  const leave = ['auth', 'share', 'leave', '-o', 'json'];

  it('with a copy that cannot be read and is newer than the store', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
    await runCloudctl(host, ['auth', 'token']);
    const old = await readRow(fixture, host);
    await runCloudctl(host, ['auth', 'refresh']);
    await replaceRow(fixture, host, old);
    const { sharedCopyFile } = profilePaths(host.folders.state, 'default');
    const ran = await withFileFault('readFileSync', sharedCopyFile, () => runCloudctl(host, leave));
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expect(existsSync(sharedCopyFile)).toBe(true);
    expect((await runCloudctl(host, leave)).code).toBe(0);
    expect((await runCloudctl(third, ['auth', 'share', 'status', '-o', 'json'])).json()).toMatchObject({
      generation: 2,
    });
  });

  it.each([
    ['a copy and a journal', true],
    ['only a journal', false],
  ])('with %s if the store has lost the session after it was published', async (_what, hasCopy) => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    const place = profilePaths(host.folders.state, 'default');
    const lock = await acquireFileLock(place.lock, { waitMs: 5_000, clock: host.clock, random: host.random });
    const leaving = runCloudctl(host, leave);
    // It has published what it knows, and waits for the lock.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await refreshWithoutStore(fixture, host, lock);
    if (!hasCopy) rmSync(place.sharedCopyFile);
    await removeRows(fixture);
    lock.release();
    expect((await leaving).error()).toMatchObject({ code: 'busy' });
    expect([listRefreshJournalFiles(place).length, existsSync(place.shareFile)]).toEqual([1, true]);
  });

  it.each([
    ['an older session', false],
    ['the end of an older session', true],
  ])(
    'with the journal of a session that cannot be compared, if the store was restored with %s',
    async (_what, ended) => {
      const fixture = await shareFixture();
      const host = await fixture.first();
      await fixture.login(host);
      if (ended) await runCloudctl(host, ['auth', 'logout']);
      const backup = await readRow(fixture, host);
      await vi.waitUntil(() => Math.floor(Date.now() / 1_000) > backup.epoch, 3_000);
      await fixture.login(host);
      await refreshWithoutStore(fixture, host);
      const place = profilePaths(host.folders.state, 'default');
      rmSync(place.sharedCopyFile);
      await replaceRow(fixture, host, backup);
      const ran = await runCloudctl(host, leave);
      expect(ran.error()).toMatchObject({ code: 'busy' });
      expect([listRefreshJournalFiles(place).length, existsSync(place.shareFile)]).toEqual([1, true]);
      expect((await runCloudctl(host, ['auth', 'remove', 'default', '--local'])).code).toBe(0);
      expect(listRefreshJournalFiles(place)).toEqual([]);
    },
  );

  it('while the record of the store does not open', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    const row = await readRow(fixture, host);
    await replaceRow(fixture, host, { ...row, epoch: row.epoch + 1_000, sid: 'abcdabcdabcdabcd', record: 'AAAA' });
    expect((await runCloudctl(host, leave)).error()).toMatchObject({ exit_code: 6 });
    expect(existsSync(profilePaths(host.folders.state, 'default').sharedCopyFile)).toBe(true);
  });

  it('while the key of the session is missing, and the hint adds the key', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const second = fixture.machine('ci-2');
    await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
    await runCloudctl(second, ['auth', 'token']);
    await refreshWithoutStore(fixture, second);
    await runCloudctl(host, ['auth', 'share', 'rotate-key']);
    await runCloudctl(host, ['auth', 'share', 'rotate-key', '--activate']);
    const { epoch } = await readRow(fixture, host);
    await vi.waitUntil(() => Math.floor(Date.now() / 1_000) > epoch, 3_000);
    await fixture.login(host);
    const { kid } = await readRow(fixture, host);
    const ran = await runCloudctl(second, ['auth', 'share', 'leave']);
    expect(ran.code).toBe(6);
    const lines = ran.err.split('\n').filter((line) => !line.startsWith('warning: '));
    expectGolden('auth-share', lines.join('\n').replaceAll(kid, 'KID'));
    await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
    expect((await runCloudctl(second, ['auth', 'share', 'leave'])).code).toBe(0);
  });
});

it.skipIf(lacks('redis-server'))(
  'a machine whose copy could not be written leaves if the store has its record',
  async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    const place = profilePaths(host.folders.state, 'default');
    const ran = await withFileFault('renameSync', place.sharedCopyFile, async () => {
      expect((await runCloudctl(host, ['auth', 'refresh'])).code).toBe(0);
      expect(listRefreshJournalFiles(place)).toHaveLength(1);
      return runCloudctl(host, ['auth', 'share', 'leave']);
    });
    expect(ran.code).toBe(0);
    expect([existsSync(place.sharedCopyFile), listRefreshJournalFiles(place)]).toEqual([false, []]);
  },
);

it.skipIf(lacks('redis-server'))('a machine with the key in the variable stays in the share', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
  await runCloudctl(third, ['auth', 'token']);
  const ran = await runCloudctl(third, ['auth', 'share', 'leave']);
  expect(ran.code).toBe(2);
  expectGolden('auth-share', ran.err);
  expect(existsSync(profilePaths(third.folders.state, 'default').sharedCopyFile)).toBe(true);
});

it.skipIf(lacks('redis-server'))('a machine that has no session leaves without asking the store', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.redis.stop();
  expect((await runCloudctl(host, ['auth', 'share', 'leave'])).code).toBe(0);
  expect(existsSync(profilePaths(host.folders.state, 'default').shareFile)).toBe(false);
});
