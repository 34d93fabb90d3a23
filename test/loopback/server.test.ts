import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { PageOutcome } from '../../src/loopback/pages.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { genuine, state } from './ground.ts';
import { get, head, hear, listening, type RawAnswer, type Started, send, start } from './wire.ts';

let open: Started[] = [];

/** The helper of a test, closed behind it. */
async function helper(own: Parameters<typeof start>[0] = {}): Promise<Started> {
  const started = await start(own);
  open.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(open.map(({ loopback }) => loopback.close()));
  open = [];
});

/** Fifty times as fast: five seconds are a tenth. */
const hurried = {
  now: systemClock.now,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

function protectedAnswer(answer: RawAnswer): void {
  const { headers } = answer;
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(answer.text.toLowerCase()).not.toContain('access-control');
}

describe('the redirect', () => {
  test('rule 28: 303 to a page that waits for the exchange and says who signed in; then the port is closed', async () => {
    let settle: (outcome: PageOutcome) => void = () => undefined;
    const finish = () =>
      new Promise<PageOutcome>((resolve) => {
        settle = resolve;
      });
    const started = await helper({ finish });
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
    expect(told.body).toContain('You are signed in as Sammy &#60;Shark&#62;');
    expect(told.body.endsWith('</html>\n')).toBe(true);
    expect(told.text).not.toContain('the-code');
    expect(told.text).not.toContain(state);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
  });

  test('rule 20: a state mismatch ends the login, and the tab is told', async () => {
    const started = await helper({ finish: async () => ({ kind: 'state_mismatch' }) });
    const redirect = await get(started, '/callback?error=x&error_description=call+0900&state=other');
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('another login');
    expect(page.text).not.toContain('0900');
    expect(started.finishes).toEqual([{ kind: 'state_mismatch' }]);
  });

  test('rule 22: of 20 identical callbacks at once one is taken', async () => {
    const started = await helper();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(started, genuine)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array.from({ length: 19 }, () => 410)]);
    expect(started.finishes).toHaveLength(1);
  });

  test('rule 22: of pipelined callbacks on one connection one is taken', async () => {
    const started = await helper();
    await send(started.port, head('GET', genuine, `Host: ${started.host}`).repeat(5));
    expect(started.finishes).toHaveLength(1);
  });

  test('a finish that fails is told to the tab in general words and to the caller whole', async () => {
    const started = await helper({ finish: () => Promise.reject(new Error('secret detail')) });
    const redirect = await get(started, genuine);
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('You are not signed in');
    expect(page.body).not.toContain('secret detail');
    await expect(started.loopback.finished).rejects.toThrow('secret detail');
  });

  test('rule 7: without a tab that asks for its page the port closes after five seconds', async () => {
    const started = await helper({ clock: hurried });
    await get(started, genuine);
    expect(await listening(started.port)).toBe(true);
    const before = performance.now();
    await started.loopback.closed;
    expect(performance.now() - before).toBeLessThan(1000);
    expect(await listening(started.port)).toBe(false);
  });

  test('a tab that went away while it waited does not hold the port', async () => {
    const started = await helper({ clock: hurried, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const tab = connect(started.port, '127.0.0.1');
    tab.write(head('GET', redirect.headers.get('location') ?? '', `Host: ${started.host}`));
    await pause(30);
    tab.destroy();
    await started.loopback.closed;
  });

  test('a tab is not kept waiting for ever', async () => {
    const started = await helper({ clock: hurried, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const page = await get(started, redirect.headers.get('location') ?? '');
    expect(page.body).toContain('goes on in the terminal');
    await started.loopback.closed;
  });
});

describe('a response that came another way', () => {
  test('latches the same login', async () => {
    const started = await helper({ finish: () => pause(200, { kind: 'signed_in' } as const) });
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(true);
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(false);
    expect((await get(started, genuine)).status).toBe(410);
    expect(started.finishes).toHaveLength(1);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
  });

  test('comes too late behind the redirect', async () => {
    const started = await helper();
    await get(started, genuine);
    expect(started.loopback.take({ kind: 'state_mismatch' })).toBe(false);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['code']);
  });
});

describe('what no HTTP client would send', () => {
  const named = (started: Started) => `Host: ${started.host}`;
  const rows: readonly (readonly [string, number, (started: Started) => string])[] = [
    ['rule 12: two Hosts', 421, (s) => head('GET', genuine, named(s), named(s))],
    ['rule 12: no Host', 421, () => head('GET', genuine)],
    ['rule 12: another Host', 421, () => head('GET', genuine, 'Host: evil.example')],
    ['HTTP/1.0 without a Host', 421, () => `GET ${genuine} HTTP/1.0\r\n\r\n`],
    ['rule 13: absolute form', 400, (s) => head('GET', `http://${s.host}${genuine}`, named(s))],
    ['rule 13: two slashes', 400, (s) => head('GET', `/${genuine}`, named(s))],
    ['rule 14: a path that would fold', 404, (s) => head('GET', `/x/..${genuine}`, named(s))],
    ['rule 14: an encoded path', 404, (s) => head('GET', genuine.replace('c', '%63'), named(s))],
    ['rule 15: the icon', 404, (s) => head('GET', '/favicon.ico', named(s))],
    ['rule 16: a repeated parameter', 400, (s) => head('GET', `${genuine}&code=x`, named(s))],
    ['rule 17: an image', 403, (s) => head('GET', genuine, named(s), 'Sec-Fetch-Dest: image')],
    ['rule 18: another Origin', 403, (s) => head('GET', genuine, named(s), 'Origin: https://evil.example')],
    ['rule 10: HEAD', 405, (s) => head('HEAD', genuine, named(s))],
    ['rule 10: OPTIONS', 405, (s) => head('OPTIONS', genuine, named(s), 'Access-Control-Request-Method: GET')],
    ['rule 10: POST', 405, (s) => `${head('POST', genuine, named(s), 'Content-Length: 3')}abc`],
    ['rule 10: CONNECT', 405, (s) => head('CONNECT', s.host, named(s))],
    ['Expect: 100-continue', 417, (s) => head('GET', genuine, named(s), 'Expect: 100-continue')],
    ['another Expect', 417, (s) => head('GET', genuine, named(s), 'Expect: cake')],
    ['no HTTP', 400, () => 'hello\r\n\r\n'],
    ['a TLS hello', 400, () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['a method of our own', 400, (s) => head('BREW', genuine, named(s))],
    ['two lengths', 400, (s) => head('GET', genuine, named(s), 'Content-Length: 1', 'Transfer-Encoding: chunked')],
    ['rule 8: headers over 8 KiB', 431, (s) => head('GET', genuine, named(s), `X: ${'x'.repeat(9000)}`)],
    ['rule 8: a target over 8 KiB', 431, (s) => head('GET', `${genuine}&x=${'x'.repeat(9000)}`, named(s))],
    ['a code of a wrong place', 404, (s) => head('GET', '/done/x', named(s))],
  ];

  test.each(rows)('%s is %i, and the login goes on', async (_, status, text) => {
    const started = await helper();
    const answer = await send(started.port, text(started));
    expect(answer.status).toBe(status);
    protectedAnswer(answer);
    expect(answer.headers.has('allow')).toBe(status === 405);
    expect(answer.text).not.toContain('the-code');
    expect(started.finishes).toEqual([]);
    expect((await get(started, genuine)).status).toBe(303);
  });

  test('HEAD is answered without a body', async () => {
    const started = await helper();
    expect((await send(started.port, head('HEAD', genuine, `Host: ${started.host}`))).body).toBe('');
  });

  test('an Upgrade is a request like any other', async () => {
    const started = await helper();
    const answer = await get(started, genuine, 'Connection: Upgrade', 'Upgrade: websocket');
    expect(answer.status).toBe(303);
  });
});

describe('rule 9: the body of the relay', () => {
  const relay = (started: Started, ...headers: readonly string[]) =>
    head(
      'POST',
      '/callback/fragment',
      `Host: ${started.host}`,
      `Origin: http://${started.host}`,
      'Content-Type: application/json',
      ...headers,
    );

  test('announced over 16 KiB: 413 before a byte of it', async () => {
    const started = await helper({ flow: 'implicit' });
    const answer = await send(started.port, relay(started, 'Content-Length: 1000000'));
    expect(answer.status).toBe(413);
    protectedAnswer(answer);
  });

  test('in chunks without end: 413 and destroyed', async () => {
    const started = await helper({ flow: 'implicit' });
    const socket = connect(started.port, '127.0.0.1');
    const heard = hear(socket);
    socket.write(relay(started, 'Transfer-Encoding: chunked'));
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const pump = setInterval(() => socket.write(chunk), 1);
    const answer = await heard;
    clearInterval(pump);
    expect(answer.status).toBe(413);
    expect(socket.bytesWritten).toBeLessThan(1_000_000);
  });

  test('a sender that stops in the middle is not waited for', { timeout: 15_000 }, async () => {
    const started = await helper({ flow: 'implicit' });
    const before = performance.now();
    await send(started.port, `${relay(started, 'Content-Length: 100')}{"nonce"`);
    expect(performance.now() - before).toBeLessThan(7000);
    expect(await listening(started.port)).toBe(true);
  });

  test('rule 31: a grant is taken once, and the page learns where to go', async () => {
    const started = await helper({ flow: 'implicit' });
    const bridge = await get(started, '/callback');
    const nonce = /data-nonce="([^"]+)"/.exec(bridge.body)?.[1];
    const fragment = `access_token=t&token_type=bearer&expires_in=60&state=${state}`;
    const body = JSON.stringify({ nonce, fragment });
    const post = () => send(started.port, relay(started, `Content-Length: ${body.length}`) + body);
    const first = await post();
    expect(first.status).toBe(200);
    protectedAnswer(first);
    expect(JSON.parse(first.body)).toEqual({ next: expect.stringMatching(/^\/done\//) });
    expect((await post()).status).toBe(410);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['implicit_grant']);
  });
});

describe('rule 35: the start link', () => {
  test('redirects once to the authorization URL and keeps it out of the address given to the opener', async () => {
    const started = await helper();
    const { startUrl, authorizationUrl, callbackUrl } = started.loopback;
    expect(startUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]{43}$/);
    expect(authorizationUrl).toContain(encodeURIComponent(callbackUrl));
    const first = await get(started, new URL(startUrl).pathname);
    expect([first.status, first.headers.get('location')]).toEqual([303, authorizationUrl]);
    protectedAnswer(first);
    expect((await get(started, new URL(startUrl).pathname)).status).toBe(410);
    expect((await get(started, genuine)).status).toBe(303);
  });
});

describe('rule 8: a crowd does not keep the genuine redirect out', () => {
  test('headers that never end are cut off after a second', async () => {
    const started = await helper();
    const socket = connect(started.port, '127.0.0.1');
    const heard = hear(socket);
    const before = performance.now();
    socket.write('GET /callback HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('X: y\r\n'), 100);
    const answer = await heard;
    clearInterval(drip);
    expect(answer.status).toBe(408);
    protectedAnswer(answer);
    expect(performance.now() - before).toBeLessThan(2500);
  });

  test('200 idle sockets and a flood of noise', async () => {
    const started = await helper();
    const idle = Array.from({ length: 200 }, () => connect(started.port, '127.0.0.1'));
    let cut = 0;
    for (const socket of idle) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        cut += 1;
      });
    }
    const noise = Array.from({ length: 200 }, (_, index) => get(started, `/noise/${index}`));
    const before = performance.now();
    const answer = await get(started, genuine);
    expect(answer.status).toBe(303);
    expect(performance.now() - before).toBeLessThan(1000);
    await Promise.all(noise);
    await pause(50);
    expect(cut).toBeGreaterThanOrEqual(200 - 64);
    for (const socket of idle) {
      socket.destroy();
    }
  });

  test('a tab that waits for its page is not taken for a silent one', async () => {
    let settle: (outcome: PageOutcome) => void = () => undefined;
    const finish = () =>
      new Promise<PageOutcome>((resolve) => {
        settle = resolve;
      });
    const started = await helper({ finish });
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

  test('a connection that never said a word is ended without one', async () => {
    const started = await helper();
    const socket = connect(started.port, '127.0.0.1');
    expect((await hear(socket)).text).toBe('');
  });
});

describe('rule 5: close', () => {
  test('ends listener and connections at once, and settles once however often it is called', async () => {
    const started = await helper({ finish: () => new Promise(() => undefined) });
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
    const started = await helper({ clock, finish: () => new Promise(() => undefined) });
    const redirect = await get(started, genuine);
    const tab = get(started, redirect.headers.get('location') ?? '');
    await pause(20);
    expect(pending).toBeGreaterThan(0);
    await started.loopback.close();
    await tab;
    expect(pending).toBe(0);
  });
});
