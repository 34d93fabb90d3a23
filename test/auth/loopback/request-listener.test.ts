import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { genuine } from './loopback-fixture.ts';
import { get, head, hear, protectedAnswer, type Started, send, start } from './raw-client.ts';

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
