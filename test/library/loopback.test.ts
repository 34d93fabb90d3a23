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

  it('a signal that is aborted while the port is bound closes it', async () => {
    const { signal, abort } = abortable();
    const received = receiveAuthorization({ callbackUrl: 'http://127.0.0.1:0/', state, flow: 'code', signal });
    abort();
    await expect(received).rejects.toThrow('enough');
  });
});

describe('a wrong value rejects, and the host process goes on', () => {
  const good = { callbackUrl: 'http://127.0.0.1:0/callback', state, flow: 'code' } as const;
  const values: readonly unknown[] = [null, 0, 1n, true, Symbol('s'), {}, [{}], { toString: null }];
  // Called as from JavaScript.
  const receive = receiveAuthorization as (options: unknown) => Promise<unknown>;

  it.each(['callbackUrl', 'state', 'flow', 'authorizationUrl', 'onListening', 'issuer', 'signal'])(
    'in the option %s',
    async (name) => {
      for (const value of values) await expect(receive({ ...good, [name]: value })).rejects.toThrow(TypeError);
      const throwing = Object.defineProperty({ ...good }, name, {
        get: () => {
          throw new RangeError('from the getter');
        },
      });
      await expect(receive(throwing)).rejects.toThrow('from the getter');
    },
  );

  it.each<[string, unknown]>([
    ['no options', undefined],
    ['null', null],
    ['a text', 'http://127.0.0.1:0/callback'],
    ['no state', { callbackUrl: good.callbackUrl, flow: 'code' }],
    ['no flow', { callbackUrl: good.callbackUrl, state }],
    ['no callback URL', { state, flow: 'code' }],
    ['an empty list of callback URLs', { ...good, callbackUrl: [] }],
  ])('%s', async (_, options) => {
    await expect(receive(options)).rejects.toThrow(TypeError);
  });

  it('a long callback URL is not repeated whole', async () => {
    const error: unknown = await receive({ ...good, callbackUrl: `${'\u001b[31m'.repeat(1e5)}` }).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code: 'invalid_callback_url' });
    expect(String(error).length).toBeLessThan(1000);
    expect(String(error)).not.toContain('\u001b');
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['an object', {}],
    ['no URL', 'nowhere'],
    ['a script', 'javascript:alert(1)'],
    ['longer than a header', `https://auth.example/?x=${'x'.repeat(1e6)}`],
  ])('an authorization URL that is %s, and the port is free', async (_, url) => {
    let bound = '';
    const authorizationUrl = (redirectUri: string) => {
      if (redirectUri.includes(':0/')) return 'https://auth.example/';
      bound = redirectUri;
      return url;
    };
    await expect(receive({ ...good, authorizationUrl })).rejects.toThrow(TypeError);
    await expect(visit(bound)).rejects.toThrow();
  });

  it('an authorization URL with other letters is encoded', async () => {
    const { received, addresses } = await listening({
      authorizationUrl: () => 'https://b\u00fccher.example/\u043f?a=\u6f22',
    });
    expect((await visit(addresses.startUrl ?? '', false)).location).toBe(
      'https://xn--bcher-kva.example/%D0%BF?a=%E6%BC%A2',
    );
    await finishWith(received, addresses);
  });

  it('an onListening that throws or rejects', async () => {
    const fail = () => {
      throw new Error('from onListening');
    };
    await expect(receive({ ...good, onListening: fail })).rejects.toThrow('from onListening');
    await expect(receive({ ...good, onListening: async () => fail() })).rejects.toThrow('from onListening');
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'signed_in'],
    ['another kind', { kind: 'unfinished' }],
    ['a kind of every object', { kind: 'constructor' }],
    ['a name that is no text', { kind: 'signed_in', name: {} }],
    ['no reason', { kind: 'failed' }],
    ['a reason that is no text', { kind: 'failed', reason: Symbol('r') }],
    ['no URL', { kind: 'continue' }],
    ['a URL that is no text', { kind: 'continue', url: {} }],
    ['a URL without a scheme', { kind: 'continue', url: '/\u043f' }],
    ['a script', { kind: 'continue', url: 'javascript:alert(1)' }],
    ['a URL longer than a header', { kind: 'continue', url: `https://a.example/${'x'.repeat(1e6)}` }],
    [
      'a getter that throws',
      {
        kind: 'signed_in',
        get name() {
          throw new TypeError('from the getter');
        },
      },
    ],
  ])('an outcome that is %s, and the next one is shown', async (_, outcome) => {
    const { received, addresses } = await listening({});
    const tab = visit(`${addresses.redirectUri}?code=abc&state=${state}`);
    const { finish } = await received;
    await expect((finish as (outcome: unknown) => Promise<void>)(outcome)).rejects.toThrow(TypeError);
    await Promise.all([finish({ kind: 'signed_in', name: 'Ada' }), tab]);
    expect((await tab).body).toContain('Ada');
  });

  it('a URL at which the tab continues is encoded, and long texts are cut', async () => {
    const { received, addresses } = await listening({});
    const tab = visit(`${addresses.redirectUri}?code=abc&state=${state}`, false);
    const { finish } = await received;
    const next = new URL((await tab).location ?? '', addresses.redirectUri).href;
    const page = visit(next, false);
    await Promise.all([finish({ kind: 'continue', url: 'https://a.example/\u043f?\u6f22\r\nX: y' }), page]);
    expect((await page).location).toBe('https://a.example/%D0%BF?%E6%BC%A2X:%20y');
  });
});

async function finishWith(received: ReturnType<typeof receiveAuthorization>, { redirectUri }: ListeningAddresses) {
  const tab = visit(`${redirectUri}?code=abc&state=${state}`);
  await Promise.all([received.then(({ finish }) => finish({ kind: 'signed_in' })), tab]);
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}

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
  const request = get(url, {
    agent: false,
    headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  });
  const [response] = await once(request, 'response');
  const { location } = response.headers;
  const body = await text(response);
  if (follows && location !== undefined) return visit(new URL(location, url).href);
  return { status: response.statusCode, location, body };
}
