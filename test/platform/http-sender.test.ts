import { Agent } from 'undici';
import PartialAgent from 'undici/lib/dispatcher/agent.js';
import { describe, expect, it } from 'vitest';
import { bufferedBody, type HttpResponse, readBody } from '../../src/platform/http-sender.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { limitedSender } from '../../src/platform/waiting.ts';
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
    expect(await readBody(answering(pieces()), bytes.length)).toBe('a ✓ b');
    expect(await readBody(answering(null), 0)).toBe('');
  });

  it.each([
    [['abc'], 2, 'bc'],
    [['abc'], 9, 'abc'],
    [['ab', 'c'], 2, 'bc'],
    [['ab', '', 'cdef'], 3, 'def'],
    [[], 3, ''],
  ])('in the pieces %j has as its last %i bytes %j', (pieces, length, end) => {
    const body = bufferedBody(pieces.map((piece) => Buffer.from(piece)));
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
    expect(await readBody(answering(endless()), 1000)).toBeUndefined();
    expect([given, left]).toEqual([1100, true]);
  });
});

it('the part of undici that is loaded is the one its index gives', () => {
  expect(PartialAgent).toBe(Agent);
});

describe('the time limit of a request', () => {
  const call = { method: 'GET', headers: {}, redirect: 'manual' } as const;

  it('a request ends at the bound, though its own deadline is far away', async () => {
    const { origin } = await serverFor(() => undefined);
    const send = limitedSender(await undiciSender({ env: {}, fresh: true }), 100);
    await expect(send(origin, { ...call, signal: AbortSignal.timeout(60_000) })).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  it('an own deadline that is nearer counts, and an answer in time is an answer', async () => {
    const silent = await serverFor(() => undefined);
    const quick = await serverFor((_, response) => reply(response, 200, 'x'));
    const send = limitedSender(await undiciSender({ env: {}, fresh: true }), 30_000);
    await expect(send(silent.origin, { ...call, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      kind: 'timeout',
    });
    const answer = await send(quick.origin, { ...call, signal: AbortSignal.timeout(30_000) });
    expect([answer.status, await answer.text()]).toEqual([200, 'x']);
  });
});
