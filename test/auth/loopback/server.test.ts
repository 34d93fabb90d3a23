import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LoginOutcome, TabAnswer } from '../../../src/auth/loopback/pages.ts';
import { Login } from '../../../src/auth/loopback/server.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { genuine, state } from './loopback-fixture.ts';
import { get, head, hear, hurried, listening, protectedAnswer, type Started, send, start } from './raw-client.ts';

const browserHeaders = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];

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

  test('rule 35: the short URL leads to the authorization URL until a response was taken', async () => {
    const started = await start();
    const { shortUrl, authorizationUrl } = started.loopback;
    expect(shortUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{10}$/);
    for (const _ of ['first', 'again']) {
      const answer = await get(started, new URL(shortUrl).pathname);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, authorizationUrl]);
      protectedAnswer(answer);
    }
    expect((await get(started, genuine)).status).toBe(303);
    expect((await get(started, new URL(shortUrl).pathname)).status).toBe(410);
  });

  test('rule 22: of 20 identical callbacks at once one is taken', async () => {
    const started = await start();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(started, genuine)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array.from({ length: 19 }, () => 410)]);
    expect(started.finishes).toHaveLength(1);
  });

  describe('the redirect that comes again says how the login ended', () => {
    const mainOf = (page: { readonly body: string }) => /<main class="(\w+)">/.exec(page.body)?.[1];

    test('while the exchange runs it waits for it', async () => {
      const started = await start({ finish: () => pause(200, { kind: 'signed_in', name: 'Sammy' } as const) });
      await get(started, genuine);
      const again = await get(started, genuine);
      expect([again.status, mainOf(again)]).toEqual([410, 'done']);
      expect(again.body).toContain('Sammy');
      protectedAnswer(again);
      expect(await listening(started.port)).toBe(true);
    });

    test('a failure is not called finished', async () => {
      const started = await start({ finish: async () => ({ kind: 'failed', reason: 'Xyzzy' }) });
      await get(started, genuine);
      const again = await get(started, genuine);
      expect([again.status, mainOf(again)]).toEqual([410, 'stopped']);
      expect(again.body).toContain('Xyzzy');
    });

    test('after a program without Sec-Fetch headers followed the redirect, the tab still finds its page', async () => {
      const started = await start();
      const redirect = await get(started, genuine);
      const scanner = await get(started, redirect.headers.get('location') ?? '');
      expect(mainOf(scanner)).toBe('done');
      const tab = await get(started, genuine, ...browserHeaders);
      expect([tab.status, mainOf(tab)]).toEqual([410, 'done']);
      await started.loopback.closed;
    });

    test.each<readonly [string, LoginOutcome | Error | undefined, string]>([
      ['in progress', undefined, 'notice'],
      ['complete', { kind: 'signed_in', name: 'Sammy' }, 'done'],
      ['denied', { kind: 'access_denied' }, 'stopped'],
      ['failed', new Error('inner words'), 'stopped'],
    ])('another response is told that the login is %s, without a name', async (_, outcome, main) => {
      const started = await start({
        finish: async () => {
          if (outcome === undefined) return new Promise(() => undefined);
          if (outcome instanceof Error) throw outcome;
          return outcome;
        },
      });
      await get(started, genuine);
      const other = await get(started, '/callback?code=x&state=other');
      expect([other.status, mainOf(other)]).toEqual([410, main]);
      expect(other.body).not.toMatch(/Sammy|inner words/);
      expectGolden('auth', /<h1>.*<\/p>/s.exec(other.body)?.[0] ?? '');
    });
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
    // On a busy machine the port can be closed before the tab arrives.
    const tab = connect(started.port, '127.0.0.1').on('error', () => undefined);
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

/** A clock that moves when it is told to. */
function handClock() {
  let now = 0;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(new Error('aborted'));
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(new Error('aborted'));
        });
      }),
    async pass(ms: number) {
      now += ms;
      for (const sleeper of [...sleepers].filter(({ at }) => at <= now)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await settle();
    },
    sleepers,
  };
}

/** Lets everything that is ready run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function setup(finish: (accepted: string) => Promise<TabAnswer> = () => new Promise(() => undefined)) {
  const clock = handClock();
  let released = 0;
  const calls: string[] = [];
  const login = new Login<string>({
    clock,
    finish: (accepted) => {
      calls.push(accepted);
      return finish(accepted);
    },
    release: async () => {
      released += 1;
    },
  });
  return { clock, login, calls, released: () => released };
}

const signedIn: LoginOutcome = { kind: 'signed_in', name: 'Sammy' };

test('rule 22: taking latches before anything is awaited', () => {
  const { login, calls } = setup();
  expect([login.take('a', 'code=a'), login.take('b', 'code=b'), login.take('c')]).toEqual([true, false, false]);
  expect(login.phase).toEqual({ kind: 'taken', response: 'code=a' });
  expect(calls).toEqual(['a']);
});

test('a closed login takes nothing, and its start link is not used any more', async () => {
  const { login, calls, released } = setup();
  await Promise.all([login.close(), login.close()]);
  expect(login.take('a', 'code=a')).toBe(false);
  login.markStarted();
  expect(login.phase).toEqual({ kind: 'closed' });
  expect([calls.length, released()]).toEqual([0, 1]);
});

test('the start link is used up by its first use', () => {
  const { login } = setup();
  expect(login.phase).toEqual({ kind: 'armed', started: false });
  login.markStarted();
  expect(login.phase).toEqual({ kind: 'armed', started: true });
});

test('rule 28: the port closes once the tab was told', async () => {
  const { login, released } = setup(async () => signedIn);
  login.take('a', 'code=a');
  const leave = login.tabWaits();
  expect(await login.outcome()).toEqual(signedIn);
  await settle();
  expect(released()).toBe(0);
  leave('browser');
  await login.closed;
  expect(released()).toBe(1);
});

test('the port stays open for half a second behind a program that read the page, but not when the login continues', async () => {
  const scanned = setup(async () => signedIn);
  scanned.login.take('a', 'code=a');
  scanned.login.tabWaits()('program');
  await settle();
  await scanned.clock.pass(499);
  expect(scanned.released()).toBe(0);
  await scanned.clock.pass(1);
  expect(scanned.released()).toBe(1);
  const continued = setup(async () => ({ kind: 'continue', url: 'https://auth.example/' }));
  continued.login.take('a', 'code=a');
  await settle();
  continued.login.tabWaits()('program');
  await settle();
  expect(continued.released()).toBe(1);
});

test('rule 28: or after five seconds without a tab', async () => {
  const { clock, login, released } = setup(async () => signedIn);
  login.take('a', 'code=a');
  await clock.pass(4999);
  expect(released()).toBe(0);
  await clock.pass(1);
  expect(released()).toBe(1);
});

test('a tab that waits holds the port as long as the exchange takes', async () => {
  let end: (outcome: LoginOutcome) => void = () => undefined;
  const { clock, login, released } = setup(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  login.take('a', 'code=a');
  const leave = login.tabWaits();
  await clock.pass(30_000);
  expect(released()).toBe(0);
  end(signedIn);
  expect(await login.outcome()).toEqual(signedIn);
  leave('browser');
  await login.closed;
});

test('a tab is told after a minute that the program is still at work', async () => {
  const { clock, login } = setup();
  login.take('a', 'code=a');
  login.tabWaits();
  const outcome = login.outcome();
  await clock.pass(60_000);
  expect(await outcome).toEqual({ kind: 'unfinished' });
});

test('what came another way closes the port as soon as it is finished, or after five seconds', async () => {
  const quick = setup(async () => signedIn);
  quick.login.take('a');
  await quick.login.closed;
  const slow = setup();
  slow.login.take('a');
  await slow.clock.pass(5000);
  expect(slow.released()).toBe(1);
});

test('a failure of finish reaches the caller whole and the tab without its words', async () => {
  const { login } = setup(() => Promise.reject(new Error('inner words')));
  login.take('a', 'code=a');
  const outcome = await login.outcome();
  expect(outcome.kind).toBe('failed');
  expect(JSON.stringify(outcome)).not.toContain('inner');
  await expect(login.finished).rejects.toThrow('inner words');
});

test('rule 5: closing leaves no timer behind', async () => {
  const { clock, login } = setup();
  login.take('a', 'code=a');
  login.tabWaits();
  void login.outcome();
  expect(clock.sleepers.size).toBeGreaterThan(0);
  await login.close();
  await settle();
  expect(clock.sleepers.size).toBe(0);
});
