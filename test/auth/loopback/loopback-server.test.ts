import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LoginOutcome } from '../../../src/auth/loopback/outcome-page.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { genuine, state } from './loopback-fixture.ts';
import { get, head, hear, hurried, listening, protectedAnswer, type Started, send, start } from './raw-client.ts';

describe('the redirect', () => {
  test('rule 28: 303 to a page that waits for the exchange and says who signed in; then the port is closed', async () => {
    let settle: (outcome: LoginOutcome) => void = () => undefined;
    const finish = () =>
      new Promise<LoginOutcome>((resolve) => {
        settle = resolve;
      });
    const started = await start({ finish });
    const redirect = await get(started, genuine);
    expect(redirect.status).toBe(303);
    expect(redirect.headers.get('location')).toMatch(/^\/done\/[\w-]{43}$/);
    protectedAnswer(redirect);
    expect((await started.loopback.taken).kind).toBe('code');

    const page = get(started, redirect.headers.get('location') ?? '');
    expect(await Promise.race([page, pause(100, 'waiting')])).toBe('waiting');
    settle({ kind: 'signed_in', name: 'Sammy <Shark>', email: 'sammy@example.com' });
    const told = await page;
    expect(told.status).toBe(200);
    expect(told.body).toMatch(/<main class="done">[\s\S]*Sammy &lt;Shark&gt;/);
    expect(told.body.endsWith('</html>\n')).toBe(true);
    expect(told.text).not.toContain('the-code');
    expect(told.text).not.toContain(state);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
  });

  test('rule 20: a state mismatch ends the login, and the tab is told', async () => {
    const started = await start({ finish: async () => ({ kind: 'state_mismatch' }) });
    const redirect = await get(started, '/callback?error=x&error_description=call+0900&state=other');
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('another login');
    expect(page.text).not.toContain('0900');
    expect(started.finishes).toEqual([{ kind: 'state_mismatch' }]);
  });

  test('rule 22: of 20 identical callbacks at once one is taken', async () => {
    const started = await start();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(started, genuine)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array.from({ length: 19 }, () => 410)]);
    expect(started.finishes).toHaveLength(1);
  });

  test('rule 22: of pipelined callbacks on one connection one is taken', async () => {
    const started = await start();
    await send(started.port, head('GET', genuine, `Host: ${started.host}`).repeat(5));
    expect(started.finishes).toHaveLength(1);
  });

  test('a finish that fails is told to the tab in general words and to the caller whole', async () => {
    const started = await start({ finish: () => Promise.reject(new Error('secret detail')) });
    const redirect = await get(started, genuine);
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('<main class="stopped">');
    expect(page.body).not.toContain('secret detail');
    await expect(started.loopback.finished).rejects.toThrow('secret detail');
  });

  test('rule 7: without a tab that asks for its page the port closes after five seconds', async () => {
    const started = await start({ clock: hurried });
    await get(started, genuine);
    expect(await listening(started.port)).toBe(true);
    const before = performance.now();
    await started.loopback.closed;
    expect(performance.now() - before).toBeLessThan(1000);
    expect(await listening(started.port)).toBe(false);
  });

  test('a tab that went away while it waited does not hold the port', async () => {
    const started = await start({ clock: hurried, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const tab = connect(started.port, '127.0.0.1');
    tab.write(head('GET', redirect.headers.get('location') ?? '', `Host: ${started.host}`));
    await pause(30);
    tab.destroy();
    await started.loopback.closed;
  });

  test('a tab is not kept waiting for ever', async () => {
    const started = await start({ clock: hurried, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('<main class="waiting">');
    await started.loopback.closed;
  });
});

describe('a response that came another way', () => {
  test('latches the same login', async () => {
    const started = await start({ finish: () => pause(200, { kind: 'signed_in' } as const) });
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(true);
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(false);
    expect((await get(started, genuine)).status).toBe(410);
    expect(started.finishes).toHaveLength(1);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
  });

  test('comes too late behind the redirect', async () => {
    const started = await start();
    await get(started, genuine);
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(false);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['code']);
  });
});

describe('rule 35: the start link', () => {
  test('redirects once to the authorization URL and keeps it out of the address given to the opener', async () => {
    const started = await start();
    const { startUrl, authorizationUrl, callbackUrl } = started.loopback;
    expect(startUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]{43}$/);
    expect(authorizationUrl).toContain(encodeURIComponent(callbackUrl));
    const first = await get(started, new URL(startUrl).pathname);
    expect([first.status, first.headers.get('location')]).toEqual([303, authorizationUrl]);
    protectedAnswer(first);
    expect((await get(started, new URL(startUrl).pathname)).status).toBe(410);
    await expect(started.loopback.taken).rejects.toMatchObject({ code: 'state_mismatch' });
  });
});

describe('rule 5: close', () => {
  test('ends listener and connections at once, and settles once however often it is called', async () => {
    const started = await start({ finish: () => new Promise(() => undefined) });
    const idle = hear(connect(started.port, '127.0.0.1'));
    const redirect = await get(started, genuine);
    const tab = get(started, redirect.headers.get('location') ?? '');
    await pause(20);
    const before = performance.now();
    await Promise.all([started.loopback.close(), started.loopback.close(), started.loopback.closed, idle, tab]);
    expect(performance.now() - before).toBeLessThan(500);
    expect(await listening(started.port)).toBe(false);
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(false);
    expect(started.finishes).toHaveLength(1);
  });

  test('leaves no timer behind that would keep the process alive', async () => {
    let pending = 0;
    const clock = {
      now: systemClock.now,
      sleep: async (ms: number, signal?: AbortSignal) => {
        pending += 1;
        await systemClock.sleep(ms, signal).finally(() => {
          pending -= 1;
        });
      },
    };
    const started = await start({ clock, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const tab = get(started, redirect.headers.get('location') ?? '');
    await pause(20);
    expect(pending).toBeGreaterThan(0);
    await started.loopback.close();
    await tab;
    expect(pending).toBe(0);
  });
});

// Only Linux lists the owners of sockets.
describe.runIf(process.platform === 'linux')('rule 1: a request of another user', () => {
  /** Sends the request as another user. Only root can do so; for any other user, this process becomes another user. */
  async function requestOfOtherUser({ port, host }: Started, target: string): Promise<number> {
    const user = process.getuid?.() ?? 0;
    if (user !== 0) {
      vi.spyOn(process, 'getuid').mockReturnValue(user + 1);
      onTestFinished(() => void vi.restoreAllMocks());
      return (await send(port, head('GET', target, `Host: ${host}`))).status;
    }
    const script = `require('node:http').get('http://${host}${target}', ({ statusCode }) => console.log(statusCode))`;
    const options = { uid: 65_534, gid: 65_534, cwd: '/', env: {} };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], options);
    return Number(stdout);
  }

  test('is refused and reported, and the login goes on', async () => {
    const refused: (readonly string[])[] = [];
    const started = await start({ onRefusedPeer: (...peer) => void refused.push(peer) });
    expect(await requestOfOtherUser(started, genuine)).toBe(403);
    expect(refused).toEqual([['127.0.0.1', 'user']]);
    expect(started.finishes).toEqual([]);
    vi.restoreAllMocks();
    expect((await get(started, genuine)).status).toBe(303);
    expect(refused).toHaveLength(1);
  });

  test('after the response was accepted is refused without a report', async () => {
    const refused: string[] = [];
    const started = await start({ onRefusedPeer: (address) => void refused.push(address) });
    expect((await get(started, genuine)).status).toBe(303);
    expect(await requestOfOtherUser(started, '/callback')).toBe(403);
    expect(refused).toEqual([]);
  });
});
