import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { refuse } from '../../../src/auth/loopback/decide.ts';
import { jsonResponse, pageResponse, redirectResponse, refusalResponse } from '../../../src/auth/loopback/http.ts';
import { type LoginOutcome, outcomePage } from '../../../src/auth/loopback/pages.ts';
import { genuine, state } from './loopback-fixture.ts';
import { get, head, hear, listening, protectedAnswer, type Started, send, start } from './raw-client.ts';

const answers = [
  pageResponse(outcomePage({ kind: 'signed_in', name: 'Zoë' })),
  refusalResponse(refuse('not_found')),
  refusalResponse({ kind: 'refuse', reason: 'method_not_allowed', allow: 'GET' }),
  redirectResponse('/done/x'),
  jsonResponse({ next: '/done/x' }),
];

test('rules 11 and 27: every answer carries the same protecting headers, and none lets another origin read it', () => {
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'Content-Security-Policy': expect.stringMatching(
        /^default-src 'none'.*form-action 'none'; frame-ancestors 'none'$/,
      ),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Connection: 'close',
    });
    expect(Object.keys(headers).join(' ').toLowerCase()).not.toContain('access-control');
  }
});

test('the length is counted in bytes', () => {
  for (const { headers, body } of answers) {
    expect(headers['Content-Length']).toBe(String(Buffer.byteLength(body)));
  }
});

test('405 names the allowed method', () => {
  expect(answers.map(({ headers }) => headers.Allow)).toEqual([undefined, undefined, 'GET', undefined, undefined]);
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
    ['rule 8: headers over 64 KiB', 431, (s) => head('GET', genuine, named(s), `X: ${'x'.repeat(66_000)}`)],
    ['rule 8: a target over 64 KiB', 431, (s) => head('GET', `${genuine}&x=${'x'.repeat(66_000)}`, named(s))],
    ['a code of a wrong place', 404, (s) => head('GET', '/done/x', named(s))],
  ];

  test.each(rows)('%s is %i, and the login goes on', async (_, status, text) => {
    const started = await start();
    const answer = await send(started.port, text(started));
    expect(answer.status).toBe(status);
    protectedAnswer(answer);
    expect(answer.headers.has('allow')).toBe(status === 405);
    expect(answer.text).not.toContain('the-code');
    expect(started.finishes).toEqual([]);
    expect((await get(started, genuine)).status).toBe(303);
  });

  test('rule 8: a long code and the cookies of other servers on this host are accepted', async () => {
    const parts: string[] = [];
    const started = await start({ onOversizedRequest: (part) => parts.push(part) });
    const long = head('GET', genuine, named(started), `Cookie: a=${'x'.repeat(50_000)}`);
    expect((await send(started.port, long)).status).toBe(303);
    expect(started.finishes).toHaveLength(1);
    expect(parts).toEqual([]);
  });

  test('rule 8: headers that are too long are reported', async () => {
    const parts: string[] = [];
    const started = await start({ onOversizedRequest: (part) => parts.push(part) });
    await send(started.port, head('GET', genuine, named(started), `X: ${'x'.repeat(66_000)}`));
    expect(parts).toEqual(['headers']);
  });

  test('noise behind a request on its connection gets no second answer', async () => {
    const started = await start();
    const answer = await send(started.port, `${head('GET', genuine, `Host: ${started.host}`)}hello\r\n\r\n`);
    expect(answer.status).toBe(303);
    expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(started.finishes).toHaveLength(1);
  });

  test('HEAD is answered without a body', async () => {
    const started = await start();
    expect((await send(started.port, head('HEAD', genuine, `Host: ${started.host}`))).body).toBe('');
  });

  test('an Upgrade is a request like any other', async () => {
    const started = await start();
    const answer = await get(started, genuine, 'Connection: Upgrade', 'Upgrade: websocket');
    expect(answer.status).toBe(303);
  });
});

describe('rule 8: who is slow or says nothing is not waited for', () => {
  test('headers that never end are cut off after a second', async () => {
    const started = await start();
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

  test('a connection that never said a word is ended without one', async () => {
    const started = await start();
    const socket = connect(started.port, '127.0.0.1');
    expect((await hear(socket)).text).toBe('');
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

  test('announced over 16 KiB: 413 before a byte of it, and a report', async () => {
    const parts: string[] = [];
    const started = await start({ flow: 'implicit', onOversizedRequest: (part) => parts.push(part) });
    const answer = await send(started.port, relay(started, 'Content-Length: 1000000'));
    expect(answer.status).toBe(413);
    protectedAnswer(answer);
    expect(parts).toEqual(['body']);
  });

  test('in chunks without end: 413 and destroyed', async () => {
    const parts: string[] = [];
    const started = await start({ flow: 'implicit', onOversizedRequest: (part) => parts.push(part) });
    const socket = connect(started.port, '127.0.0.1');
    const heard = hear(socket);
    socket.write(relay(started, 'Transfer-Encoding: chunked'));
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const pump = setInterval(() => socket.write(chunk), 1);
    const answer = await heard;
    clearInterval(pump);
    expect(answer.status).toBe(413);
    expect(socket.bytesWritten).toBeLessThan(1_000_000);
    expect(parts).toEqual(['body']);
  });

  test('a sender that stops in the middle is not waited for', { timeout: 15_000 }, async () => {
    const started = await start({ flow: 'implicit' });
    const before = performance.now();
    await send(started.port, `${relay(started, 'Content-Length: 100')}{"nonce"`);
    expect(performance.now() - before).toBeLessThan(7000);
    expect(await listening(started.port)).toBe(true);
  });

  test('rule 31: a grant is taken once, and the page learns where to go', async () => {
    const started = await start({ flow: 'implicit' });
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
