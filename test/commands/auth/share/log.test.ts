import { describe, expect, it } from 'vitest';
import { lacks } from '../../../fixtures/needs.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

describe.skipIf(lacks('redis-server'))('auth share log', () => {
  it('lists who refreshed the session, newest first', async () => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    expect((await runCloudctl(host, ['auth', 'refresh'])).code).toBe(0);
    const rows = (await runCloudctl(host, ['auth', 'share', 'log', '-o', 'json'])).json<readonly object[]>();
    expect(rows).toMatchObject([
      { event: 'refresh', generation: 2, machine: expect.stringMatching(/^ci-1#/) },
      { event: 'claim', generation: 1 },
      { event: 'login', machine: 'login' },
    ]);
    expect((await runCloudctl(host, ['auth', 'share', 'log', '--limit', '1', '-o', 'json'])).json()).toHaveLength(1);
    expect((await runCloudctl(host, ['auth', 'share', 'log', '--limit', '0'])).code).toBe(2);
  });
});
