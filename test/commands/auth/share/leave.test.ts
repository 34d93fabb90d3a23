import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../../src/session/profile-paths.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

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
