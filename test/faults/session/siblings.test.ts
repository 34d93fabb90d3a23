import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { authorizationUrl, visit } from '../../fixtures/login.ts';
import {
  endOf,
  errorOf,
  expectNoSecretLeaked,
  killedAt,
  list,
  refreshCommits,
  runNextCommand,
  stoppedAt,
} from './assertions.ts';
import type { FaultFixture } from './fault-fixture.ts';
import { describeStores } from './stores.ts';

/** A whole login, answered by the consent script of the sandbox. */
async function logIn(ground: FaultFixture, words: readonly string[] = ['--force']): Promise<Ran> {
  const running = ground.start(['auth', 'login', '--no-browser', ...words]);
  const [url] = await running.waitFor('stderr', authorizationUrl);
  await visit(url);
  const ran = await running.ended;
  ground.printed.push(ran);
  return ran;
}

/** Nobody is logged in: what is asked for needs a login, and nothing is stored. */
async function isGone(ground: FaultFixture): Promise<void> {
  expect(await ground.item()).toBeUndefined();
  const ran = await ground.run(list);
  expect([ran.code, errorOf(ran)]).toEqual([4, 'not_logged_in']);
  expect(await ground.item()).toBeUndefined();
  expectNoSecretLeaked(ground);
}

async function sidOf(ground: FaultFixture): Promise<string | undefined> {
  return (await ground.item())?.sid;
}

describeStores('logout, login and refresh at the same time', ({ make }) => {
  test('K17: a logout that waited for a refresh ends the session for good', async (context) => {
    const ground = await make(context);
    const refresh = await stoppedAt(ground, 'K8-sealed', ['auth', 'refresh', '-o', 'json']);
    const logout = ground.run(['auth', 'logout']);
    await after(400);
    expect(await sidOf(ground)).toBeDefined();
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect((await logout).code).toBe(0);
    expect(ground.sandbox.requests('POST /v1/oauth/revoke').map(({ status }) => status)).toEqual([200]);
    expect(ground.beside()).toEqual([]);
    await isGone(ground);
  });

  test('K17: a refresh that waited for a logout brings nothing back', async (context) => {
    const ground = await make(context);
    const refresh = await stoppedAt(ground, 'K1-waiting');
    expect((await ground.run(['auth', 'logout'])).code).toBe(0);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(4);
    expect(ground.refreshes()).toEqual([]);
    await isGone(ground);
  });

  test('K17: what a killed refresh has left is worth nothing after a logout, and nothing to the next login', async (context) => {
    const ground = await make(context);
    const before = await sidOf(ground);
    await killedAt(ground, 'K8-sealed');
    const left = ground.beside().map((name) => join(ground.place.folder, name));
    const bytes = left.map((path) => readFileSync(path));
    expect(left).toHaveLength(1);
    expect((await ground.run(['auth', 'logout'])).code).toBe(0);
    await isGone(ground);
    // Somebody has kept the file: the key went with the item.
    for (const [at, path] of left.entries()) writeFileSync(path, bytes[at] ?? '');
    expect((await ground.run(list)).code).toBe(4);
    expect(await ground.item()).toBeUndefined();
    expect((await logIn(ground)).code).toBe(0);
    for (const [at, path] of left.entries()) writeFileSync(path, bytes[at] ?? '');
    const sid = await sidOf(ground);
    expect(sid).not.toBe(before);
    expect(await runNextCommand(ground)).toBe('usable');
    expect((await ground.run(['auth', 'refresh'])).code).toBe(0);
    expect(await ground.item()).toMatchObject({ sid, gen: 2 });
    expect(await runNextCommand(ground)).toBe('usable');
  });

  test('K17: a login during a refresh is what is left', async (context) => {
    const ground = await make(context);
    const before = await sidOf(ground);
    const refresh = await stoppedAt(ground, 'K7-read', ['auth', 'refresh', '-o', 'json']);
    const login = logIn(ground);
    await after(600);
    expect(await sidOf(ground)).toBe(before);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect((await login).code).toBe(0);
    const item = await ground.item();
    expect(item?.sid).not.toBe(before);
    expect(item?.gen).toBe(1);
    expect(await runNextCommand(ground)).toBe('usable');
    expect(ground.beside()).toEqual([]);
    expectNoSecretLeaked(ground);
  });

  test('K17: a refresh that waited for a login uses the new session and sends nothing', async (context) => {
    const ground = await make(context);
    const refresh = await stoppedAt(ground, 'K1-waiting', ['auth', 'refresh', '-o', 'json']);
    expect((await logIn(ground)).code).toBe(0);
    const sid = await sidOf(ground);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect(await ground.item()).toMatchObject({ sid, gen: 1 });
    expect(ground.refreshes()).toEqual([]);
    expect(await runNextCommand(ground)).toBe('usable');
  });

  test('K17: two profiles renew, and one logs out, without touching each other', async (context) => {
    const ground = await make(context, { profiles: ['default', 'second'] });
    const ends = await Promise.all(
      ['default', 'second'].flatMap((profile) =>
        Array.from({ length: 3 }, () => ground.run([...list, '--profile', profile])),
      ),
    );
    expect(ends.map(endOf)).toEqual(ends.map(() => 'usable'));
    expect(refreshCommits(ground)).toHaveLength(2);
    expect([(await ground.item())?.gen, (await ground.item('second'))?.gen]).toEqual([2, 2]);
    const [logout, refresh] = await Promise.all([
      ground.run(['auth', 'logout', '--profile', 'second']),
      ground.run(['auth', 'refresh']),
    ]);
    expect([logout.code, refresh.code]).toEqual([0, 0]);
    expect(await ground.item('second')).toBeUndefined();
    expect(await runNextCommand(ground)).toBe('usable');
    expect((await ground.run([...list, '--profile', 'second'])).code).toBe(4);
    expect([(await ground.item())?.gen, refreshCommits(ground).length]).toEqual([3, 3]);
    expectNoSecretLeaked(ground);
  });

  test('K17: all of it at once leaves the last login or nobody, and never a session that was logged out', async (context) => {
    const ground = await make(context);
    const first = await sidOf(ground);
    const later = async <T>(work: () => Promise<T>): Promise<T> => {
      await after(Math.random() * 500);
      return work();
    };
    const [logout] = await Promise.all([
      later(() => ground.run(['auth', 'logout'])),
      later(() => logIn(ground)),
      ...Array.from({ length: 3 }, () => later(() => ground.run(list))),
      later(() => ground.run(['auth', 'refresh'])),
    ]);
    expect(logout.code).toBe(0);
    const item = await ground.item();
    expect(item?.sid).not.toBe(first);
    if (item === undefined) await isGone(ground);
    else expect(await runNextCommand(ground)).toBe('usable');
    expect(ground.beside()).toEqual([]);
    expectNoSecretLeaked(ground);
  });
});
