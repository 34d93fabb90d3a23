import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import PartialAgent from 'undici/lib/dispatcher/agent.js';
import { describe, expect, it } from 'vitest';
import {
  createBufferedResponseBody,
  type HttpResponse,
  HttpSendError,
  readResponseBodyText,
} from '../../src/platform/http-sender.ts';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import { createHttpSenderWithRequestTimeout } from '../../src/platform/waiting.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';

function answering(body: AsyncIterable<Uint8Array> | null): HttpResponse {
  return { status: 200, headers: { get: () => null }, text: async () => 'unread', body };
}

describe('the body of an answer', () => {
  it('is its pieces as UTF-8, wherever they are cut', async () => {
    const bytes = Buffer.from('a ✓ b');
    const pieces = async function* () {
      for (const byte of bytes) yield Uint8Array.of(byte);
    };
    expect(await readResponseBodyText(answering(pieces()), bytes.length)).toBe('a ✓ b');
    expect(await readResponseBodyText(answering(null), 0)).toBe('');
  });

  it.each([
    [['abc'], 2, 'bc'],
    [['abc'], 9, 'abc'],
    [['ab', 'c'], 2, 'bc'],
    [['ab', '', 'cdef'], 3, 'def'],
    [[], 3, ''],
  ])('in the pieces %j has as its last %i bytes %j', (pieces, length, end) => {
    const body = createBufferedResponseBody(pieces.map((piece) => Buffer.from(piece)));
    expect(body.end(length).toString()).toBe(end);
    expect(body.bytes().toString()).toBe(pieces.join(''));
    expect(body.size).toBe(pieces.join('').length);
    expect(body.end(length).toString()).toBe(end);
  });

  it('that is longer than allowed is left at once', async () => {
    let given = 0;
    let left = false;
    const endless = async function* () {
      try {
        for (;;) {
          given += 100;
          yield new Uint8Array(100);
        }
      } finally {
        left = true;
      }
    };
    expect(await readResponseBodyText(answering(endless()), 1000)).toBeUndefined();
    expect([given, left]).toEqual([1100, true]);
  });
});

it('the part of undici that is loaded is the one its index gives', () => {
  expect(PartialAgent).toBe(Agent);
});

describe('a request that is sent once', () => {
  const get = () => ({ method: 'GET', headers: {}, signal: AbortSignal.timeout(5_000), redirect: 'manual' as const });

  it('a compressed body arrives as it was before', async () => {
    const text = JSON.stringify({ droplets: Array.from({ length: 2_000 }, (_, id) => ({ id, name: 'wéb' })) });
    const { origin, seen } = await serverFor((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
    );
    const send = await createUndiciSender({ env: {} });
    expect(await (await send(origin, get())).text()).toBe(text);
    expect(seen[0]?.headers).toMatchObject({
      'accept-encoding': 'gzip',
      'user-agent': expect.stringMatching(/^cloudctl\//),
    });
  });

  it('a compressed body that breaks off is a failure, not a shorter body', async () => {
    const { origin } = await serverFor((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(10_000)).subarray(0, 20)),
    );
    const send = await createUndiciSender({ env: {} });
    const failure = await send(origin, get())
      .then((answer) => answer.text())
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HttpSendError);
    expect(failure).toMatchObject({ kind: 'connection', sent: true });
  });

  it.each([
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['BR', brotliCompressSync],
  ] as const)('an answer in %s, which nobody asked for, is read all the same', async (name, pack) => {
    const { origin } = await serverFor((_, response) =>
      response.writeHead(200, { 'content-encoding': name }).end(pack('{"refresh_token":"the only one"}')),
    );
    const send = await createUndiciSender({ env: {} });
    expect(await readResponseBodyText(await send(origin, get()), 1_000)).toBe('{"refresh_token":"the only one"}');
  });

  it('the connection of what is no gzip at all is closed, though its answer does not end', async () => {
    let closed = (): void => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { origin } = await serverFor((_, response) => {
      response.once('close', closed);
      response.writeHead(200, { 'content-encoding': 'gzip' }).write('this is no gzip at all');
    });
    // As a request of a batch has it: no deadline ends it.
    const answer = await (await createUndiciSender({ env: {} }))(origin, {
      ...get(),
      signal: new AbortController().signal,
    });
    await expect(answer.text()).rejects.toMatchObject({ name: 'SendError', sent: true });
    await isClosed;
  });

  it('a header that came twice is one, and one that did not come is null', async () => {
    const { origin } = await serverFor((_, response) => response.setHeader('warning', ['a', 'b']).end());
    const { headers } = await (await createUndiciSender({ env: {} }))(origin, get());
    expect([headers.get('Warning'), headers.get('retry-after')]).toEqual(['a, b', null]);
  });
});

describe('the time limit of a request', () => {
  const call = { method: 'GET', headers: {}, redirect: 'manual' } as const;

  it('a request ends at the bound, though its own deadline is far away', async () => {
    const { origin } = await serverFor(() => undefined);
    const send = createHttpSenderWithRequestTimeout(await createUndiciSender({ env: {}, fresh: true }), 100);
    await expect(send(origin, { ...call, signal: AbortSignal.timeout(60_000) })).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  it('an own deadline that is nearer counts, and an answer in time is an answer', async () => {
    const silent = await serverFor(() => undefined);
    const quick = await serverFor((_, response) => reply(response, 200, 'x'));
    const send = createHttpSenderWithRequestTimeout(await createUndiciSender({ env: {}, fresh: true }), 30_000);
    await expect(send(silent.origin, { ...call, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      kind: 'timeout',
    });
    const answer = await send(quick.origin, { ...call, signal: AbortSignal.timeout(30_000) });
    expect([answer.status, await answer.text()]).toEqual([200, 'x']);
  });
});
