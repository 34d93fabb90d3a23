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
async function logIn(fixture: FaultFixture, words: readonly string[] = ['--force']): Promise<Ran> {
  const running = fixture.start(['auth', 'login', '--no-browser', ...words]);
  const [url] = await running.waitFor('stderr', authorizationUrl);
  await visit(url);
  const ran = await running.ended;
  fixture.printed.push(ran);
  return ran;
}

/** Nobody is logged in: what is asked for needs a login, and nothing is stored. */
async function isGone(fixture: FaultFixture): Promise<void> {
  expect(await fixture.item()).toBeUndefined();
  const ran = await fixture.run(list);
  expect([ran.code, errorOf(ran)]).toEqual([4, 'not_logged_in']);
  expect(await fixture.item()).toBeUndefined();
  expectNoSecretLeaked(fixture);
}

async function sidOf(fixture: FaultFixture): Promise<string | undefined> {
  return (await fixture.item())?.sid;
}

describeStores('logout, login and refresh at the same time', ({ make }) => {
  test('K17: a logout that waited for a refresh ends the session for good', async (context) => {
    const fixture = await make(context);
    const refresh = await stoppedAt(fixture, 'K8-sealed', ['auth', 'refresh', '-o', 'json']);
    const logout = fixture.run(['auth', 'logout']);
    await after(400);
    expect(await sidOf(fixture)).toBeDefined();
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect((await logout).code).toBe(0);
    expect(fixture.sandbox.requests('POST /v1/oauth/revoke').map(({ status }) => status)).toEqual([200]);
    expect(fixture.beside()).toEqual([]);
    await isGone(fixture);
  });

  test('K17: a refresh that waited for a logout brings nothing back', async (context) => {
    const fixture = await make(context);
    const refresh = await stoppedAt(fixture, 'K1-waiting');
    expect((await fixture.run(['auth', 'logout'])).code).toBe(0);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(4);
    expect(fixture.refreshes()).toEqual([]);
    await isGone(fixture);
  });

  test('K17: what a killed refresh has left is worth nothing after a logout, and nothing to the next login', async (context) => {
    const fixture = await make(context);
    const before = await sidOf(fixture);
    await killedAt(fixture, 'K8-sealed');
    const left = fixture.beside().map((name) => join(fixture.place.folder, name));
    const bytes = left.map((path) => readFileSync(path));
    expect(left).toHaveLength(1);
    expect((await fixture.run(['auth', 'logout'])).code).toBe(0);
    await isGone(fixture);
    // Somebody has kept the file: the key went with the item.
    for (const [at, path] of left.entries()) writeFileSync(path, bytes[at] ?? '', { mode: 0o600 });
    expect((await fixture.run(list)).code).toBe(4);
    expect(await fixture.item()).toBeUndefined();
    expect((await logIn(fixture)).code).toBe(0);
    for (const [at, path] of left.entries()) writeFileSync(path, bytes[at] ?? '', { mode: 0o600 });
    const sid = await sidOf(fixture);
    expect(sid).not.toBe(before);
    expect(await runNextCommand(fixture)).toBe('usable');
    expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
    expect(await fixture.item()).toMatchObject({ sid, gen: 2 });
    expect(await runNextCommand(fixture)).toBe('usable');
  });

  test('K17: a login during a refresh is what is left', async (context) => {
    const fixture = await make(context);
    const before = await sidOf(fixture);
    const refresh = await stoppedAt(fixture, 'K7-read', ['auth', 'refresh', '-o', 'json']);
    const login = logIn(fixture);
    await after(600);
    expect(await sidOf(fixture)).toBe(before);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect((await login).code).toBe(0);
    const item = await fixture.item();
    expect(item?.sid).not.toBe(before);
    expect(item?.gen).toBe(1);
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(fixture.beside()).toEqual([]);
    expectNoSecretLeaked(fixture);
  });

  test('K17: a refresh that waited for a login uses the new session and sends nothing', async (context) => {
    const fixture = await make(context);
    const refresh = await stoppedAt(fixture, 'K1-waiting', ['auth', 'refresh', '-o', 'json']);
    expect((await logIn(fixture)).code).toBe(0);
    const sid = await sidOf(fixture);
    refresh.kill('SIGCONT');
    expect((await refresh.ended).code).toBe(0);
    expect(await fixture.item()).toMatchObject({ sid, gen: 1 });
    expect(fixture.refreshes()).toEqual([]);
    expect(await runNextCommand(fixture)).toBe('usable');
  });

  test('K17: two profiles renew, and one logs out, without touching each other', async (context) => {
    const fixture = await make(context, { profiles: ['default', 'second'] });
    const ends = await Promise.all(
      ['default', 'second'].flatMap((profile) =>
        Array.from({ length: 3 }, () => fixture.run([...list, '--profile', profile])),
      ),
    );
    expect(ends.map(endOf)).toEqual(ends.map(() => 'usable'));
    expect(refreshCommits(fixture)).toHaveLength(2);
    expect([(await fixture.item())?.gen, (await fixture.item('second'))?.gen]).toEqual([2, 2]);
    const [logout, refresh] = await Promise.all([
      fixture.run(['auth', 'logout', '--profile', 'second']),
      fixture.run(['auth', 'refresh']),
    ]);
    expect([logout.code, refresh.code]).toEqual([0, 0]);
    expect(await fixture.item('second')).toBeUndefined();
    expect(await runNextCommand(fixture)).toBe('usable');
    expect((await fixture.run([...list, '--profile', 'second'])).code).toBe(4);
    expect([(await fixture.item())?.gen, refreshCommits(fixture).length]).toEqual([3, 3]);
    expectNoSecretLeaked(fixture);
  });

  test('K17: all of it at once leaves the last login or nobody, and never a session that was logged out', async (context) => {
    const fixture = await make(context);
    const first = await sidOf(fixture);
    const later = async <T>(work: () => Promise<T>): Promise<T> => {
      await after(Math.random() * 500);
      return work();
    };
    const [logout] = await Promise.all([
      later(() => fixture.run(['auth', 'logout'])),
      later(() => logIn(fixture)),
      ...Array.from({ length: 3 }, () => later(() => fixture.run(list))),
      later(() => fixture.run(['auth', 'refresh'])),
    ]);
    expect(logout.code).toBe(0);
    const item = await fixture.item();
    expect(item?.sid).not.toBe(first);
    if (item === undefined) await isGone(fixture);
    else expect(await runNextCommand(fixture)).toBe('usable');
    expect(fixture.beside()).toEqual([]);
    expectNoSecretLeaked(fixture);
  });
});
