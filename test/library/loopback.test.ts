import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  type ListeningAddresses,
  type ReceiveAuthorizationOptions,
  receiveAuthorization,
} from '../../src/library/loopback.ts';

const state = 'b'.repeat(32);

describe('receiveAuthorization', () => {
  it('resolves with the parameters, and shows the outcome in the tab', async () => {
    const { received, addresses } = await listening({});
    const tab = visit(`${addresses.redirectUri}?code=abc&state=${state}`);
    const { parameters, redirectUri, finish } = await received;
    expect(parameters).toEqual({ code: 'abc', state });
    expect(redirectUri).toBe(addresses.redirectUri);
    const closed = finish({ kind: 'signed_in', name: '<Ada>' });
    expect((await tab).body).toContain('&lt;Ada&gt;');
    await closed;
    await expect(visit(redirectUri)).rejects.toThrow();
  });

  it('a start address redirects to the authorization URL once', async () => {
    const { received, addresses } = await listening({
      authorizationUrl: (redirectUri) =>
        `https://auth.example/authorize?redirect_uri=${encodeURIComponent(redirectUri)}`,
    });
    expect(addresses.authorizationUrl).toContain(encodeURIComponent(addresses.redirectUri));
    const start = () => visit(addresses.startUrl ?? '', false);
    expect((await start()).location).toBe(addresses.authorizationUrl);
    const failed = expect(received).rejects.toMatchObject({ code: 'state_mismatch' });
    await start();
    await failed;
  });

  it('an error response is a result', async () => {
    const { received, addresses } = await listening({});
    const tab = visit(`${addresses.redirectUri}?error=access_denied&state=${state}`);
    const { parameters, finish } = await received;
    expect(parameters.error).toBe('access_denied');
    await Promise.all([finish({ kind: 'access_denied' }), tab]);
  });

  it.each([
    ['another state', `code=abc&state=${'c'.repeat(32)}`, 'state_mismatch'],
    ['a token in the query', `access_token=t&state=${state}`, 'invalid_response'],
    ['another issuer', `code=abc&iss=https%3A%2F%2Fb.example&state=${state}`, 'invalid_response'],
  ])('%s is refused', async (_, query, code) => {
    const { received, addresses } = await listening({ issuer: 'https://a.example' });
    const failed = expect(received).rejects.toMatchObject({ name: 'ReceiveAuthorizationError', code });
    await visit(`${addresses.redirectUri}?${query}`);
    await failed;
  });

  it('a request without a response does not end the wait', async () => {
    const { received, addresses } = await listening({});
    expect((await visit(addresses.redirectUri)).status).toBe(400);
    const tab = visit(`${addresses.redirectUri}?code=abc&state=${state}`);
    await (await received).finish({ kind: 'signed_in' });
    await tab;
  });

  it('a signal closes the port', async () => {
    const controller = new AbortController();
    const { received, addresses } = await listening({ signal: controller.signal });
    const failed = expect(received).rejects.toThrow('enough');
    controller.abort(new Error('enough'));
    await failed;
    await expect(visit(addresses.redirectUri)).rejects.toThrow();
  });

  it('errors have a code', async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    const address = occupied.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const wait = (callbackUrl: string) => receiveAuthorization({ callbackUrl, state, flow: 'code' });
    await expect(wait(`http://127.0.0.1:${port}/callback`)).rejects.toMatchObject({ code: 'port_in_use' });
    await expect(wait('http://example.com/callback')).rejects.toMatchObject({ code: 'invalid_callback_url' });
    await expect(receiveAuthorization({ callbackUrl: 'http://127.0.0.1:0/', state: '', flow: 'code' })).rejects.toThrow(
      TypeError,
    );
    occupied.close();
  });
});

/** Starts to listen; resolves with the addresses and the pending result. */
async function listening(options: Partial<ReceiveAuthorizationOptions>) {
  let received: ReturnType<typeof receiveAuthorization> | undefined;
  const addresses = await new Promise<ListeningAddresses>((resolve, reject) => {
    received = receiveAuthorization({
      callbackUrl: 'http://127.0.0.1:0/callback',
      state,
      flow: 'code',
      onListening: resolve,
      ...options,
    });
    received.catch(reject);
  });
  if (received === undefined) throw new Error('not started');
  return { received, addresses };
}

/** Requests a page as a browser tab does, unlike fetch, whose headers say that no tab is navigated. */
async function visit(url: string, follows = true): Promise<{ status: number; location?: string; body: string }> {
  const request = get(url, { agent: false });
  const [response] = await once(request, 'response');
  const { location } = response.headers;
  const body = await text(response);
  if (follows && location !== undefined) return visit(new URL(location, url).href);
  return { status: response.statusCode, location, body };
}
