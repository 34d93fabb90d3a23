import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { writeClientSecret } from '../../../../src/session/client-secret.ts';
import { encodeCredentialRecord } from '../../../../src/session/credential-record.ts';
import { createFileCredentialStore } from '../../../../src/session/file-store.ts';
import {
  listRefreshJournalFiles,
  profilePaths,
  readOrCreateKeychainAccount,
} from '../../../../src/session/profile-paths.ts';
import { closedOrigin } from '../../../fixtures/fake-server.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { memoryKeychain, type TestHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { bindingTo, recordOf } from '../../../fixtures/session.ts';
import { callApi, tokenFor } from '../../../sandbox/requests.ts';
import { runCloudctl, startCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';
import { refreshWithoutStore } from './store-without-commit.ts';

const remove = ['auth', 'remove', 'default'];
const placeOf = (host: TestHost) => profilePaths(host.folders.state, 'default');
/** The files of the profile, without its empty lock files. */
const filesOf = (host: TestHost) =>
  readdirSync(placeOf(host).folder).filter((name) => name.startsWith('default.') && !name.endsWith('lock'));

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

/** Two machines of a share; only the first one has the newest grant and the client secret. */
async function machineWithTheOnlyGrant() {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const other = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
  const secrets = createFileCredentialStore(placeOf(host));
  await writeClientSecret(secrets, bindingTo(fixture.sandbox), new Secret('client-secret'));
  await refreshWithoutStore(fixture, host);
  expect(listRefreshJournalFiles(placeOf(host))).toHaveLength(1);
  return { fixture, host, other };
}

const account = (host: TestHost): string => readOrCreateKeychainAccount(placeOf(host), host.random);

/** A machine of a share whose keychain has a session and a client secret from before. */
async function machineWithKeychainSession(authOrigin?: string) {
  const fixture = await shareFixture();
  const items = new Map<string, string>();
  const host = { ...(await fixture.first()), keychain: memoryKeychain(items) };
  await fixture.login(host);
  const grant = await tokenFor(fixture.sandbox);
  const record = recordOf(host, fixture.sandbox, grant, authOrigin === undefined ? {} : { authOrigin });
  items.set(account(host), encodeCredentialRecord(record).reveal());
  items.set(`${account(host)}:client`, 'client-secret');
  return { fixture, host, grant, items };
}

describe.skipIf(lacks('redis-server'))('auth remove of a shared profile', () => {
  it('publishes the grant that only this machine has, and deletes every secret of the profile', async () => {
    const { host, other } = await machineWithTheOnlyGrant();
    const ran = await runCloudctl(host, remove);
    expect(ran.code).toBe(0);
    expectGolden('auth-share', ran.err);
    expect(filesOf(host)).toEqual([]);
    expect(host.readConfig().profiles.has('default')).toBe(false);
    expect((await runCloudctl(other, ['auth', 'share', 'status', '-o', 'json'])).json()).toMatchObject({
      generation: 2,
    });
    expect((await runCloudctl(other, ['auth', 'status', '--check'])).code).toBe(0);
  });

  it('removes nothing while the store is away, unless --local is given', async () => {
    const { fixture, host } = await machineWithTheOnlyGrant();
    const before = filesOf(host);
    await fixture.redis.stop();
    expect((await runCloudctl(host, [...remove, '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect(filesOf(host)).toEqual(before);
    expect(host.readConfig().profiles.has('default')).toBe(true);
    expect((await runCloudctl(host, [...remove, '--local'])).code).toBe(0);
    expect(filesOf(host)).toEqual([]);
  });

  it('removes nothing without the key, because the journal cannot be published', async () => {
    const { host } = await machineWithTheOnlyGrant();
    await createFileCredentialStore(placeOf(host)).withItems((items) => items.remove('share'));
    expect((await runCloudctl(host, [...remove, '-o', 'json'])).error()).toMatchObject({ code: 'not_logged_in' });
    expect(listRefreshJournalFiles(placeOf(host))).toHaveLength(1);
  });

  it('revokes an earlier session of the file store', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const grant = await tokenFor(fixture.sandbox);
    const record = encodeCredentialRecord(recordOf(host, fixture.sandbox, grant));
    await createFileCredentialStore(placeOf(host)).withItems((items) => items.write('credential', record));
    expect((await runCloudctl(host, remove)).code).toBe(0);
    expect(filesOf(host)).toEqual([]);
    expect((await callApi(fixture.sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('revokes an earlier session of the keychain, and deletes the client secret there', async () => {
    const { fixture, host, grant, items } = await machineWithKeychainSession();
    expect([...items.keys()]).toEqual([account(host), `${account(host)}:client`]);
    expect((await runCloudctl(host, remove)).code).toBe(0);
    expect([...items]).toEqual([]);
    expect((await callApi(fixture.sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('exits with 6 if the earlier session of the keychain could not be revoked', async () => {
    const { host, items } = await machineWithKeychainSession(await closedOrigin());
    expect((await runCloudctl(host, [...remove, '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    expect([...items]).toEqual([]);
    expect(host.readConfig().profiles.has('default')).toBe(false);
  });

  it.each(['missing', 'failed'] as const)(
    'warns of a keychain that is %s only if it may have a session',
    async (why) => {
      const fixture = await shareFixture();
      const host = await fixture.first();
      await runCloudctl(host, ['auth', 'token']);
      account(host);
      // The keychain fails after the key of the share was removed from it.
      const keychain = memoryKeychain(new Map(), () => (run.host.err().includes('goes on') ? why : undefined));
      const run = startCloudctl(host, remove, { keychain });
      const { code, err } = await run.ended;
      expect(code).toBe(0);
      expect(err.includes('may be left in the keychain')).toBe(why !== 'missing');
    },
  );

  it('does not need the store on a machine that has no session', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.redis.stop();
    expect((await runCloudctl(host, remove)).code).toBe(0);
    expect(filesOf(host)).toEqual([]);
  });
});
