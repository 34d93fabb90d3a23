import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../../src/session/profile-paths.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { memoryKeychain } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

const join = ['auth', 'share', 'join', '-o', 'json'];

describe.skipIf(lacks('redis-server'))('auth share join', () => {
  it('stores the key of standard input, so that the machine uses the session', async () => {
    const fixture = await shareFixture();
    const first = await fixture.first();
    await fixture.login(first);
    const second = fixture.machine('ci-2');
    expect((await runCloudctl(second, ['auth', 'token', '-o', 'json'])).error()).toMatchObject({
      code: 'not_logged_in',
    });
    expect((await runCloudctl(second, join, { stdin: fixture.keysOf(first) })).code).toBe(0);
    const [one, other] = [await runCloudctl(first, ['auth', 'token']), await runCloudctl(second, ['auth', 'token'])];
    expect([one.code, other.out]).toEqual([0, one.out]);
  });

  it('keeps a key that auth share rotate-key adds while the machine connects', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    const stdin = fixture.keysOf(host);
    let rotated = '';
    const ran = await fixture.runDuring(
      host,
      join,
      async () => {
        await runCloudctl(host, ['auth', 'share', 'rotate-key']);
        rotated = fixture.keysOf(host);
      },
      { stdin },
    );
    expect(ran.code).toBe(0);
    expect(rotated).not.toBe(stdin);
    expect(fixture.keysOf(host)).toBe(rotated);
  });

  it('does not replace the key of another share that the machine joins while it connects', async () => {
    const [fixture, other] = [await shareFixture(), await shareFixture()];
    const stdin = fixture.keysOf(await fixture.first());
    const machine = fixture.machine('ci-2');
    const ofOther = other.keysOf(await other.first());
    const joinOther = () => runCloudctl(machine, join, { stdin: ofOther });
    const ran = await fixture.runDuring(machine, join, joinOther, { stdin });
    expect(ran.error()).toMatchObject({ code: 'config_invalid' });
    expect(fixture.keysOf(machine)).toBe(ofOther);
  });

  it('with --keychain on one side keeps the keys of both in the keychain', async () => {
    const fixture = await shareFixture();
    const first = await fixture.first();
    const [machine, keychain, stdin] = [fixture.machine('ci-2'), memoryKeychain(), fixture.keysOf(first)];
    await runCloudctl(first, ['auth', 'share', 'rotate-key']);
    const rotated = fixture.keysOf(first);
    const moved = () => runCloudctl(machine, [...join, '--keychain'], { stdin: rotated, keychain });
    expect((await fixture.runDuring(machine, join, moved, { stdin, keychain })).code).toBe(0);
    expect(existsSync(profilePaths(machine.folders.state, 'default').shareFile)).toBe(false);
    const shown = await runCloudctl(machine, ['auth', 'share', 'init', '--print-key'], { keychain });
    expect(shown.out.trim()).toBe(rotated);
  });

  it('refuses a damaged key, a key of another share, and a server that does not answer', async () => {
    const fixture = await shareFixture();
    const first = await fixture.first();
    const key = fixture.keysOf(first);
    const second = fixture.machine('ci-2');
    expect((await runCloudctl(second, join, { stdin: key.slice(0, -3) })).error()).toMatchObject({ code: 'usage' });
    const away = fixture.machine('ci-3', { CLOUDCTL_STORE_URL: 'redis://127.0.0.1:1/0' });
    expect((await runCloudctl(away, join, { stdin: key })).error()).toMatchObject({
      code: 'unreachable',
      exit_code: 6,
    });
    const other = await (await shareFixture()).first();
    expect((await runCloudctl(other, join, { stdin: key })).error()).toMatchObject({ code: 'config_invalid' });
  });

  it('warns, as auth share init does, if the user may not add entries to the log', async () => {
    const { redis, machine, first, keysOf } = await shareFixture();
    const rights = '+eval +info +hget +hset +hdel +hgetall +time +xrevrange +wait +ping +select';
    redis.cli('ACL', 'SETUSER', 'ci', 'on', '>secret-text', '~cloudctl:*', ...rights.split(' '));
    const stdin = keysOf(await first());
    const second = machine('ci-2', { CLOUDCTL_STORE_URL: `redis://ci:secret-text@${redis.host}:${redis.port}/0` });
    const [joined, init] = [
      await runCloudctl(second, ['auth', 'share', 'join'], { stdin }),
      await runCloudctl(second, ['auth', 'share', 'init']),
    ];
    expect([joined.code, init.code]).toEqual([0, 0]);
    const warnings = [joined, init].map(({ err }) => err.split('\n').find((line) => line.startsWith('warning: ')));
    expect(warnings[0]).toBe(warnings[1]);
    expectGolden('auth-share', String(warnings[0]).replace(String(redis.port), 'PORT'));
  });

  it('suggests commands for the profile of --profile', async () => {
    const [fixture, other] = [await shareFixture(), await shareFixture()];
    const [first, ofOther] = [await fixture.first(), await other.first()];
    const machine = fixture.machine('ci-2');
    const { raw } = machine.readConfig();
    const { default: values } = raw.profiles as Readonly<Record<string, object>>;
    machine.writeConfig({ current: 'default', profiles: { default: values, work: values } });
    const work = [...join, '--profile', 'work'];
    const stdin = fixture.keysOf(first);
    for (const argv of [join, work]) expect((await runCloudctl(machine, argv, { stdin })).code).toBe(0);
    const refused = [
      (await runCloudctl(machine, work, { stdin: other.keysOf(ofOther) })).error(),
      (await runCloudctl(machine, work, { stdin: 'damaged' })).error(),
      (await runCloudctl(machine, ['auth', 'logout', '--local', '--profile', 'work', '-o', 'json'])).error(),
    ];
    expectGolden('auth-share', refused.map(({ hint }) => hint).join('\n'), 'refused');
    const init = await runCloudctl(machine, ['auth', 'share', 'init', '--profile', 'work']);
    const rotated = await runCloudctl(machine, ['auth', 'share', 'rotate-key', '--profile', 'work']);
    const last = ({ err }: { readonly err: string }) => err.trim().split('\n').at(-1);
    expectGolden('auth-share', [init, rotated].map(last).join('\n'), 'next steps');
  });

  it('with --keychain moves the key from its file to the keychain', async () => {
    const fixture = await shareFixture();
    const first = await fixture.first();
    await fixture.login(first);
    const keychain = memoryKeychain();
    const machine = fixture.machine('ci-2');
    await runCloudctl(machine, join, { stdin: fixture.keysOf(first), keychain });
    await runCloudctl(first, ['auth', 'share', 'rotate-key']);
    const moved = ['auth', 'share', 'join', '--keychain'];
    const ran = await runCloudctl(machine, moved, { stdin: fixture.keysOf(first), keychain });
    expect(ran.code).toBe(0);
    expectGolden(
      'auth-share',
      ran.err
        .replace(/[0-9a-f]{16}/, 'SHARE')
        .replace(/#[\w-]+/, '#ID')
        .replace(/\d{10}/, 'N'),
    );
    expect(existsSync(profilePaths(machine.folders.state, 'default').shareFile)).toBe(false);
    await runCloudctl(first, ['auth', 'share', 'rotate-key', '--activate']);
    await runCloudctl(first, ['auth', 'refresh']);
    expect((await runCloudctl(machine, ['auth', 'refresh', '-o', 'json'], { keychain })).code).toBe(0);
    const report = (await runCloudctl(machine, ['auth', 'share', 'status', '-o', 'json'], { keychain })).json();
    expect(report).toMatchObject({ key_place: 'keychain', state: 'session' });
  });

  it('keeps the key file if the keychain cannot be used', async () => {
    const fixture = await shareFixture();
    const stdin = fixture.keysOf(await fixture.first());
    const machine = fixture.machine('ci-2');
    await runCloudctl(machine, join, { stdin });
    const keychain = memoryKeychain(new Map(), () => 'locked');
    const ran = await runCloudctl(machine, [...join, '--keychain'], { stdin, keychain });
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expect(fixture.keysOf(machine)).toBe(stdin);
  });

  it('works again after the machine has left, without a keychain', async () => {
    const fixture = await shareFixture();
    const stdin = fixture.keysOf(await fixture.first());
    const machine = fixture.machine('ci-2');
    const keychain = memoryKeychain(new Map(), () => 'missing');
    for (const words of ['join', 'leave', 'join', 'leave'])
      expect(await runCloudctl(machine, ['auth', 'share', words], { stdin, keychain })).toMatchObject({ code: 0 });
    expect((await runCloudctl(machine, ['auth', 'token', '-o', 'json'], { keychain })).error()).toMatchObject({
      code: 'not_logged_in',
    });
  });
});
