import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  endOf,
  errorOf,
  expectInvariants,
  expectNoSecretInProcesses,
  list,
  refreshCommits,
  runNextCommand,
  type SessionEnd,
  stoppedAt,
  until,
} from './assertions.ts';
import { describeStores } from './stores.ts';

/** The 45 s that a waiter waits are over in 3. */
const hurried = { env: { TEST_CLOCK: '{"rate":15}' } };

describeStores('a stopped or interrupted refresh', ({ store, make }) => {
  test('K13: while its holder is stopped nobody steals the lock; who waits ends busy, and nothing is lost', async (context) => {
    const fixture = await make(context);
    const holder = await stoppedAt(fixture, store === 'keychain' ? 'K9-storing' : 'K3-sending');
    expectNoSecretInProcesses(fixture);
    const sent = refreshCommits(fixture).length;
    const ends = await Promise.all(
      Array.from(
        { length: store === 'keychain' ? 10 : 4 },
        async (): Promise<SessionEnd> => runNextCommand(fixture, hurried),
      ),
    );
    expect(ends).toEqual(ends.map(() => 'busy'));
    expect(refreshCommits(fixture)).toHaveLength(sent);
    holder.kill('SIGCONT');
    expect(endOf(await holder.ended)).toBe('usable');
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(1);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test('K13: an answer that came while its reader was stopped for longer than it may wait is taken', async (context) => {
    const fixture = await make(context);
    const match = { method: 'POST', path: '/v1/oauth/token' };
    fixture.sandbox.faults.add({ match, action: 'delay', delay: 1_000 });
    // The 30 s of a request are over in 3.
    const running = fixture.start(list, { env: { ...(store === 'file' ? { TEST_CLOCK: '{"timers":10}' } : {}) } });
    await after(0);
    await until(() => fixture.sandbox.faults.list()[0]?.applied === 1, 'the request', running);
    running.kill('SIGSTOP');
    await until(() => refreshCommits(fixture).length === 1, 'the commit');
    await after(store === 'file' ? 3_500 : 0);
    running.kill('SIGCONT');
    const ran = await running.ended;
    expect([endOf(ran), refreshCommits(fixture).length]).toEqual(['usable', 1]);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  const points = [
    'K3-sending',
    'K6-answering',
    'K6-partial',
    'K7-read',
    'K8-sealed',
    'K9-storing',
    'K10-stored',
    'K10-cleared',
  ];
  const cases = points.map((point, at) => {
    const signal = (at + (store === 'file' ? 1 : 0)) % 2 === 0 ? ('SIGINT' as const) : ('SIGTERM' as const);
    return { signal, point };
  });
  test.for(cases)('K14: $signal at $point: ends after the commit', async ({ signal, point }, context) => {
    const fixture = await make(context);
    const running = await stoppedAt(fixture, point);
    running.kill(signal);
    running.kill('SIGCONT');
    const ran = await running.ended;
    expect([ran.code, ran.signal, ran.stdout]).toEqual([signal === 'SIGINT' ? 130 : 143, null, '']);
    expect(errorOf(ran)).toBe('cancelled');
    await expectInvariants(fixture);
    expect((await fixture.item())?.gen).toBe(2);
    expect(fixture.beside()).toEqual([]);
    expect(refreshCommits(fixture)).toHaveLength(1);
  });

  test('K14: both signals, twice each, while the server takes its time', async (context) => {
    const fixture = await make(context);
    const match = { method: 'POST', path: '/v1/oauth/token' };
    fixture.sandbox.faults.add({ match, action: 'delay', delay: 500 });
    const running = fixture.start(list);
    await until(() => fixture.sandbox.faults.list()[0]?.applied === 1, 'the request', running);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM', 'SIGINT'] as const) {
      running.kill(signal);
      await after(50);
    }
    expect((await running.ended).code).toBe(143);
    expect((await fixture.item())?.gen).toBe(2);
    await expectInvariants(fixture);
  });
});
