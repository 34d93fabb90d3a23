import fs, { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { storeAccount } from '../../../src/auth/session/account.ts';
import { journalPath, keychainAccount } from '../../../src/auth/session/paths.ts';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { createFileStore, writeClientSecret } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { tryAcquire } from '../../../src/platform/locks.ts';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { bindingTo, type Seed, seedSession } from '../../fixtures/session.ts';
import { callApi, sandboxFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText, startCloudctl } from '../run-cloudctl.ts';

/** Profiles `default` (current) and `work`, both logged in; `work` with everything that may hold a secret. */
async function seededHost(host: TestHost = testHost(), seed: Seed = {}) {
  const sandbox = await sandboxFor();
  await seedSession(host, sandbox);
  const work = await seedSession(host, sandbox, { profile: 'work', ...seed });
  const { raw } = host.readConfig();
  host.writeConfig({ later: 1, current: 'default', ...raw });
  await writeClientSecret(createFileStore(work.place), bindingTo(sandbox), new Secret('client-secret'));
  const { sid, scope } = work.record;
  storeAccount(host.folders.config, 'work', { sid, scope, scope_verified: true, flow: 'code' });
  for (const path of [
    journalPath(work.place, sid),
    `${journalPath(work.place, sid)}.1.next`,
    join(work.place.folder, '.work.credential.json.1.tmp'),
    join(work.place.folder, '.work.client.json.1.tmp'),
    join(work.place.folder, '.work.probe.1.1.link.tmp'),
  ])
    writeFileSync(path, 'left by a crash');
  return { host, sandbox, ...work };
}

/** Names of the profile's files in both folders. */
function filesOf({ folders }: TestHost, profile: string): readonly string[] {
  const names = [...readdirSync(join(folders.state, 'sessions')), ...readdirSync(join(folders.config, 'accounts'))];
  return names.filter((name) => name.replace(/^\./, '').startsWith(`${profile}.`));
}

describe('auth remove', () => {
  it('ends the session and deletes the profile and every secret of it, and nothing of another profile', async () => {
    const { host, sandbox, grant } = await seededHost();
    const ran = await runCloudctl(host, ['auth', 'remove', 'work']);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expectGolden('auth', stableText(ran));
    expect(filesOf(host, 'work')).toEqual([]);
    expect(filesOf(host, 'default')).toContain('default.credential.json');
    expect(host.readConfig()).toMatchObject({ current: 'default', raw: { later: 1 } });
    expect([...host.readConfig().profiles.keys()]).toEqual(['default']);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
    expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(0);
  });

  it('deletes temporary files with the lock, because another process that has the lock needs its own', async () => {
    const { host, place } = await seededHost();
    const { unlinkSync } = fs;
    const locked: boolean[] = [];
    const spy = vi.spyOn(fs, 'unlinkSync').mockImplementation((path) => {
      if (/\.(wal|tmp|next)$/.test(String(path))) {
        const held = tryAcquire(place.lock);
        locked.push(held === undefined);
        held?.release();
      }
      unlinkSync(path);
    });
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    expect((await runCloudctl(host, ['auth', 'remove', 'work'])).code).toBe(0);
    expect(new Set(locked)).toEqual(new Set([true]));
    expect(filesOf(host, 'work')).toEqual([]);
  });

  it('leaves the lock file of a login that another process has begun', async () => {
    const { host, place } = await seededHost();
    const held = tryAcquire(place.loginLock);
    expect((await runCloudctl(host, ['auth', 'remove', 'work'])).code).toBe(0);
    expect(filesOf(host, 'work')).toEqual(['work.login-lock']);
    expect(tryAcquire(place.loginLock)).toBeUndefined();
    held?.release();
  });

  it('of the current profile leaves none current', async () => {
    const { host } = await seededHost();
    const ran = await runCloudctl(host, ['auth', 'remove', 'default', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expectGolden('auth', stableText(ran));
    expect(host.readConfig().raw).not.toHaveProperty('current');
  });

  it('with --local sends no request', async () => {
    const { host, sandbox } = await seededHost();
    const ran = await runCloudctl(host, ['auth', 'remove', 'work', '--local']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect(filesOf(host, 'work')).toEqual([]);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('is exit 6 when the server cannot be reached, and the profile is removed all the same', async () => {
    const { host } = await seededHost(testHost(), { record: { authOrigin: await closedOrigin() } });
    const ran = await runCloudctl(host, ['auth', 'remove', 'work']);
    expect(ran).toMatchObject({ code: 6, out: '' });
    expectGolden('auth', stableText(ran));
    expect(filesOf(host, 'work')).toEqual([]);
    expect(host.readConfig().profiles.has('work')).toBe(false);
  });

  it('searches both stores, because the profile may have used the other one', async () => {
    const items = new Map<string, string>();
    const { host, sandbox, record, place } = await seededHost(testHost({ keychain: memoryKeychain(items) }));
    const account = keychainAccount(place, host.random);
    items.set(account, encodeRecord(record).reveal()).set(`${account}:client`, '{}').set('other', 'x');
    expect((await runCloudctl(host, ['auth', 'remove', 'work'])).code).toBe(0);
    expect([...items.keys()]).toEqual(['other']);
    expect(filesOf(host, 'work')).toEqual([]);
    const kept = await seedSession(host, sandbox, { profile: 'kept', values: { credential_store: 'keychain' } });
    expect((await runCloudctl(host, ['auth', 'remove', 'kept'])).code).toBe(0);
    expect(existsSync(kept.place.credentialFile)).toBe(false);
  });

  it('is exit 6 if only the session of the other store could not be revoked', async () => {
    const items = new Map<string, string>();
    const { host, record, place } = await seededHost(testHost({ keychain: memoryKeychain(items) }));
    const earlier = { ...record, authOrigin: await closedOrigin() };
    items.set(keychainAccount(place, host.random), encodeRecord(earlier).reveal());
    expect((await runCloudctl(host, ['auth', 'remove', 'work', '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect([...items]).toEqual([]);
  });

  it('removes nothing while the keychain of the profile is locked', async () => {
    const host = testHost({ keychain: memoryKeychain(new Map(), () => 'locked') });
    await seededHost(host, { values: { credential_store: 'keychain' } });
    const ran = await runCloudctl(host, ['auth', 'remove', 'work', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expect(host.readConfig().profiles.has('work')).toBe(true);
  });

  it('warns when another store than that of the profile cannot be searched', async () => {
    const host = testHost({ keychain: memoryKeychain(new Map(), () => 'locked') });
    const { place } = await seededHost(host);
    keychainAccount(place, host.random);
    const ran = await runCloudctl(host, ['auth', 'remove', 'work']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect(host.readConfig().profiles.has('work')).toBe(false);
  });

  it.each([
    ['n', true],
    ['y', false],
  ])('asks on a terminal: %s', async (answer, isKept) => {
    const { host } = await seededHost();
    const started = startCloudctl(host, ['auth', 'remove', 'work'], { terminal: 80 });
    await new Promise((resolve) => started.host.screen.once('data', resolve));
    // The prompt listens once it is drawn.
    await new Promise((resolve) => setTimeout(resolve, 50));
    started.host.stdin.emit('data', `${answer}\r`);
    const ran = await started.ended;
    expect(ran.code).toBe(0);
    expect(host.readConfig().profiles.has('work')).toBe(isKept);
    expect(filesOf(host, 'work').length > 0).toBe(isKept);
  });

  it.each([
    ['an unknown profile', ['nobody'], 'profile_unknown'],
    ['no profile', [], 'usage'],
    ['two profiles', ['work', '--profile', 'default'], 'usage'],
  ])('of %s is exit 2 and changes nothing', async (_what, words, code) => {
    const { host, sandbox } = await seededHost();
    const ran = await runCloudctl(host, ['auth', 'remove', ...words, '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.error()).toMatchObject({ code });
    expect(host.readConfig().profiles.size).toBe(2);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});
