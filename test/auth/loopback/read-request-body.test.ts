import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { state } from './loopback-fixture.ts';
import { get, head, hear, listening, protectedAnswer, type Started, send, start } from './raw-client.ts';

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
