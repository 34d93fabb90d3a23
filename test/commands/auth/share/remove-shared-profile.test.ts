import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/secret.ts';
import { writeClientSecret } from '../../../../src/session/client-secret.ts';
import { encodeCredentialRecord } from '../../../../src/session/credential-record.ts';
import { createFileCredentialStore } from '../../../../src/session/file-store.ts';
import { listRefreshJournalFiles, profilePaths } from '../../../../src/session/profile-paths.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { bindingTo, recordOf } from '../../../fixtures/session.ts';
import { callApi, tokenFor } from '../../../sandbox/requests.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
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

  it('does not need the store on a machine that has no session', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.redis.stop();
    expect((await runCloudctl(host, remove)).code).toBe(0);
    expect(filesOf(host)).toEqual([]);
  });
});
