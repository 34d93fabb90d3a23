import { describe, expect, it } from 'vitest';
import { lacks } from '../../../fixtures/needs.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

const rotate = ['auth', 'share', 'rotate-key', '-o', 'json'];

describe.skipIf(lacks('redis-server'))('auth share rotate-key', () => {
  it('adds a key, and encrypts the session with it when it is activated', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const second = fixture.machine('ci-2');
    await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
    const keyInStore = () => fixture.withStore(host, async (store) => (await store.run({ op: 'read' })).row?.kid);
    const before = await keyInStore();
    expect((await runCloudctl(host, rotate)).code).toBe(0);
    expect(await keyInStore()).toBe(before);
    expect((await runCloudctl(host, [...rotate, '--activate'])).code).toBe(0);
    expect(await keyInStore()).not.toBe(before);
    // A machine without the new key cannot read the session, until it joins again.
    expect((await runCloudctl(second, ['auth', 'refresh', '-o', 'json'])).error()).toMatchObject({ exit_code: 6 });
    await runCloudctl(second, ['auth', 'share', 'join'], { stdin: fixture.keysOf(host) });
    expect((await runCloudctl(second, ['auth', 'refresh'])).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
  });

  it('cannot add a key to a variable', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    const other = fixture.machine('ci-2', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
    expect((await runCloudctl(other, rotate)).error()).toMatchObject({ code: 'usage' });
  });
});
