import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { LoginOutcome } from '../../../src/auth/loopback/outcome-page.ts';
import { genuine } from './loopback-fixture.ts';
import { get, start } from './raw-client.ts';

describe('rule 8: many sockets do not keep the genuine redirect out', () => {
  test('200 idle sockets and a flood of noise', { timeout: 60_000 }, async () => {
    const started = await start();
    const idle = Array.from({ length: 200 }, () => connect(started.port, '127.0.0.1'));
    let cut = 0;
    for (const socket of idle) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        cut += 1;
      });
    }
    const noise = Array.from({ length: 200 }, (_, index) => get(started, `/noise/${index}`));
    const answer = await get(started, genuine);
    expect(answer.status).toBe(303);
    await Promise.all(noise);
    await pause(50);
    expect(cut).toBeGreaterThanOrEqual(200 - 64);
    for (const socket of idle) {
      socket.destroy();
    }
  });

  test('a tab that waits for its page is not taken for a silent one', async () => {
    let settle: (outcome: LoginOutcome) => void = () => undefined;
    const finish = () =>
      new Promise<LoginOutcome>((resolve) => {
        settle = resolve;
      });
    const started = await start({ finish });
    const redirect = await get(started, genuine);
    const page = get(started, redirect.headers.get('location') ?? '');
    await pause(20);
    const idle = Array.from({ length: 150 }, () => connect(started.port, '127.0.0.1').on('error', () => undefined));
    await pause(200);
    settle({ kind: 'signed_in' });
    expect((await page).status).toBe(200);
    for (const socket of idle) {
      socket.destroy();
    }
  });
});
