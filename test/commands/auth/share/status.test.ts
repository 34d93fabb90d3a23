import { describe, expect, it } from 'vitest';
import { lacks } from '../../../fixtures/needs.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

const status = ['auth', 'share', 'status', '-o', 'json'];

describe.skipIf(lacks('redis-server'))('auth share status', () => {
  it('shows the session, the copy, and the machine that refreshes', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    expect((await runCloudctl(host, status)).json()).toMatchObject({ state: 'no_session', copy: 'none' });
    await fixture.login(host);
    await runCloudctl(host, ['auth', 'token']);
    await fixture.withStore(host, async (store) => {
      const { row } = await store.run({ op: 'read' });
      if (row === undefined) throw new Error('there is no session');
      const { epoch, sid, gen } = row;
      await store.run({ op: 'claim', by: 'ci-9#x', attempt: '1', leaseMs: 60_000, epoch, sid, gen });
    });
    const report = (await runCloudctl(host, status)).json<Record<string, unknown>>();
    expect(report).toMatchObject({ state: 'session', generation: 1, copy: 'same', holder: 'ci-9#x', refused: false });
    expect(String(report.machine)).toMatch(/^ci-1#/);
    expect(JSON.stringify(report)).not.toContain(fixture.keysOf(host).split(':')[1]);
  });

  it('names no holder whose lease counts as ended, because the clock of the store was set back', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const claim = (by: string, leaseMs: number) =>
      fixture.withStore(host, async (store) => {
        const { row } = await store.run({ op: 'read' });
        if (row === undefined) throw new Error('there is no session');
        const { epoch, sid, gen } = row;
        return (await store.run({ op: 'claim', by, attempt: by, leaseMs, epoch, sid, gen })).applied;
      });
    expect(await claim('ci-7#x', 7_200_000)).toBe(true);
    expect((await runCloudctl(host, status)).json()).toMatchObject({ holder: null, unreported: ['ci-7#x'] });
    expect(await claim('ci-8#x', 15_000)).toBe(true);
    expect((await runCloudctl(host, status)).json()).toMatchObject({ holder: 'ci-8#x' });
  });
});
