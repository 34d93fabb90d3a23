import { describe, expect, it } from 'vitest';
import { decodeShareEncryptionKeys } from '../../../../src/shared-store/share-encryption-keys.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
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

  it('keeps the keys of other runs at the same time', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    const ran = await Promise.all([1, 2, 3].map(() => runCloudctl(host, ['auth', 'share', 'rotate-key'])));
    const added = ran.map(({ err }) => /[0-9a-f]{8}/.exec(err)?.[0]);
    const kids = decodeShareEncryptionKeys(fixture.keysOf(host))?.keys.map(({ kid }) => kid);
    expect(kids).toHaveLength(4);
    expect(kids).toEqual(expect.arrayContaining(added));
  });

  it('makes a machine with the keys in the variable name the variable, which wins over a stored key', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const ci = fixture.machine('ci-2', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
    for (const words of [[], ['--activate']]) await runCloudctl(host, [...rotate, ...words]);
    const kid = await fixture.withStore(host, async (store) => (await store.run({ op: 'read' })).row?.kid);
    const refused = [
      await runCloudctl(ci, ['auth', 'token']),
      await runCloudctl(ci, [...rotate.slice(0, 3), '--activate']),
    ];
    expectGolden('auth-share', refused.map(({ err }) => err.replaceAll(String(kid), 'KID')).join('\n'));
    const { out } = await runCloudctl(host, ['auth', 'share', 'init', '--print-key']);
    const env = { CLOUDCTL_STORE_KEY: out };
    expect((await runCloudctl(ci, ['auth', 'token'], { env })).code).toBe(0);
  });

  it('cannot add a key to a variable', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    const other = fixture.machine('ci-2', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
    expect((await runCloudctl(other, rotate)).error()).toMatchObject({ code: 'usage' });
  });
});
