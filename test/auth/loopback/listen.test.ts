import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { type ListenAddress, parseCallback, withPort } from '../../../src/auth/loopback/listen.ts';
import { type PeerNetwork, parseNetwork } from '../../../src/auth/loopback/peers.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { genuine } from './loopback-fixture.ts';
import { get, head, hear, listening, type RawAnswer, type Started, send, start } from './raw-client.ts';

describe('the authority a browser will write is known from the callback URL', () => {
  test.each([
    ['http://127.0.0.1:8765/callback', '127.0.0.1:8765', 8765, '/callback', ['127.0.0.1']],
    ['http://127.0.0.1/callback', '127.0.0.1', 80, '/callback', ['127.0.0.1']],
    ['http://127.0.0.1:80/callback', '127.0.0.1', 80, '/callback', ['127.0.0.1']],
    ['http://127.9.0.1:8765/callback', '127.9.0.1:8765', 8765, '/callback', ['127.9.0.1']],
    ['http://localhost:8765', 'localhost:8765', 8765, '/', ['127.0.0.1', '::1']],
    ['http://[::1]:8765/a/b', '[::1]:8765', 8765, '/a/b', ['::1']],
  ])('%s', (href, host, port, path, addresses) => {
    expect(parseCallback(href)).toEqual({ href, host, port, path, query: '', addresses });
  });

  test('its own query is kept', () => {
    expect(parseCallback('http://localhost:1/cb?app=1').query).toBe('app=1');
  });

  test('port 0 becomes the port the system gave, and nothing else changes', () => {
    const any = parseCallback('http://[::1]:0/a:0?b=:0');
    expect(withPort(any, 4711)).toMatchObject({
      href: 'http://[::1]:4711/a:0?b=:0',
      host: '[::1]:4711',
      port: 4711,
    });
    const fixed = parseCallback('http://127.0.0.1:8765/callback');
    expect(withPort(fixed, 8765)).toEqual(fixed);
  });
});

describe('what no browser could bring back to this machine is refused', () => {
  test.each([
    'https://127.0.0.1:8765/callback',
    'http://0.0.0.0:8765/callback',
    'http://[::]:8765/callback',
    'http://example.com/callback',
    'http://127.0.0.1.example.com/callback',
    'http://localhost.example.com/callback',
    'http://user@127.0.0.1/callback',
    'http://127.0.0.1:8765/callback#x',
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:8765/a/../callback',
    'http://127.0.0.1:8765/%2e%2e/callback',
    'http://127.0.0.1:8765\\callback',
    'http://127.0.0.001:8765/callback',
    'HTTP://127.0.0.1:8765/callback',
    'https://example.com/http://127.0.0.1:8765/callback',
    ' http://127.0.0.1:8765/callback',
    '',
  ])('%s', (href) => {
    expect(() => parseCallback(href)).toThrowError(expect.objectContaining({ code: 'config_invalid' }));
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
});

function helper(...callbackUrls: readonly string[]): Promise<Started> {
  return start({ callbackUrls });
}

/** Another program on a port. */
async function occupy(address: string, port = 0): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address, port, ipv6Only: true }, resolve);
  });
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return bound.port;
}

async function freePort(address = '127.0.0.1'): Promise<number> {
  const port = await occupy(address);
  await ends.pop()?.();
  return port;
}

describe('rule 1: literal loopback addresses only', () => {
  test('127.0.0.1 is bound alone', async () => {
    const started = await helper('http://127.0.0.1:0/callback');
    expect(await listening(started.port)).toBe(true);
    expect(await listening(started.port, '127.0.0.2')).toBe(false);
    if (hasIpv6) expect(await listening(started.port, '::1')).toBe(false);
    const outside = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    if (outside !== undefined) expect(await listening(started.port, outside.address)).toBe(false);
  });
});

describe('rule 2: localhost is both addresses on one port', () => {
  test.skipIf(!hasIpv6)('both are bound', async () => {
    const started = await helper('http://localhost:0/callback');
    expect(started.host).toBe(`localhost:${started.port}`);
    expect((await send(started.port, head('GET', '/', `Host: ${started.host}`), '::1')).status).toBe(404);
    expect((await get(started, genuine)).status).toBe(303);
  });

  test.skipIf(!hasIpv6)('in use on ::1 is a failure, and 127.0.0.1 is given back', async () => {
    const port = await occupy('::1');
    await expect(helper(`http://localhost:${port}/callback`)).rejects.toMatchObject({ code: 'port_in_use' });
    expect(await listening(port)).toBe(false);
  });

  test('in use on 127.0.0.1 is a failure', async () => {
    const port = await occupy('127.0.0.1');
    await expect(helper(`http://localhost:${port}/callback`)).rejects.toMatchObject({ code: 'port_in_use' });
  });

  test.skipIf(!hasIpv6)('[::1] is served under its own name', async () => {
    const started = await helper('http://[::1]:0/callback');
    const answer = await send(started.port, head('GET', genuine, `Host: [::1]:${started.port}`), '::1');
    expect(answer.status).toBe(303);
  });
});

describe('rule 3: a port in use', () => {
  test('the next callback URL is taken', async () => {
    const port = await occupy('127.0.0.1');
    const next = await freePort();
    const started = await helper(`http://127.0.0.1:${port}/callback`, `http://127.0.0.1:${next}/other?app=1`);
    expect(started.loopback.callbackUrl).toBe(`http://127.0.0.1:${next}/other?app=1`);
    expect((await get(started, `/other?app=1&${genuine.split('?')[1]}`)).status).toBe(303);
  });

  test('none left: exit 1 naming port and option, and no state', async () => {
    const port = await occupy('127.0.0.1');
    const failure = await helper(`http://127.0.0.1:${port}/callback`).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'port_in_use',
      exitCode: 1,
      message: expect.stringContaining(`${port}`),
      hint: expect.stringContaining('--callback-url'),
    });
    expectGolden('auth', errorText(failure).replaceAll(String(port), 'PORT'));
  });

  test('of several each is named with what is wrong about it', async () => {
    const ports = [await occupy('127.0.0.1'), await occupy('127.0.0.1')];
    const urls = ports.map((port) => `http://127.0.0.1:${port}/callback`);
    const failure = await helper(...urls).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'port_in_use',
      message: expect.stringContaining(ports.join(', ')),
      detail: expect.stringMatching(new RegExp(ports.map((port) => `127\\.0\\.0\\.1 port ${port}\\b`).join('.*'))),
    });
    expectGolden('auth', errorText(failure).replaceAll(new RegExp(ports.join('|'), 'g'), 'PORT'));
  });

  test('a port reserved by the system counts the same', async () => {
    const free = await freePort();
    // Not port 1, where other suites rely upon it that nobody listens.
    const started = await helper('http://127.0.0.1:1023/callback', `http://127.0.0.1:${free}/callback`).catch(
      () => undefined,
    );
    // Who may bind it (root) gets it; everybody else gets the next one.
    expect([1023, free]).toContain(started?.port);
  });

  test('rule 4: a second login on the port fails and does not disturb the first', async () => {
    const first = await helper('http://127.0.0.1:0/callback');
    await expect(helper(first.loopback.callbackUrl)).rejects.toMatchObject({ code: 'port_in_use' });
    expect((await get(first, genuine)).status).toBe(303);
  });
});

const [gateway, stranger] = ['127.0.0.5', '127.0.0.6'];

function networks(...texts: readonly string[]): readonly PeerNetwork[] {
  return texts.flatMap((text) => {
    const parsed = parseNetwork(text);
    return parsed.ok ? [parsed.network] : [];
  });
}

/** A listener at 127.0.0.3, whose redirect URI has another address and port, as in a container. */
async function forwarded(own: Partial<ListenAddress> = {}) {
  const refused: string[] = [];
  const started = await start({
    callbackUrls: ['http://127.0.0.1:8765/callback'],
    listenAddress: {
      address: '127.0.0.3',
      port: await freePort('127.0.0.3'),
      allowedPeers: networks(`${gateway}/32`),
      ...own,
    },
    onRefusedPeer: (address, reason) => refused.push(`${reason} ${address}`),
  });
  return { ...started, refused };
}

function requestFrom(localAddress: string, port: number, ...lines: readonly string[]): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.3', localAddress });
  const heard = hear(socket);
  socket.write(head('GET', genuine, ...lines));
  return heard;
}

// macOS has no other address of 127.0.0.0/8 than 127.0.0.1.
describe.skipIf(process.platform === 'darwin')(
  'rule 1: another address, only with the peers that the user allows',
  () => {
    test('an allowed peer completes the login, and the redirect URI is the one that is registered', async () => {
      const port = await freePort();
      const { loopback, finishes } = await forwarded({ port });
      expect(loopback.callbackUrl).toBe('http://127.0.0.1:8765/callback');
      expect(await listening(8765)).toBe(false);
      expect((await requestFrom(gateway, port, 'Host: 127.0.0.1:8765')).status).toBe(303);
      await loopback.taken;
      expect(finishes).toHaveLength(1);
    });

    test('any other peer is disconnected without a response, and the login continues', async () => {
      const port = await freePort();
      const { refused } = await forwarded({ port });
      for (const address of [stranger, '127.0.0.1'])
        expect((await requestFrom(address, port, 'Host: 127.0.0.1:8765')).text).toBe('');
      expect(refused).toEqual([`address ${stranger}`, 'address 127.0.0.1']);
      expect((await requestFrom(gateway, port, 'Host: 127.0.0.1:8765')).status).toBe(303);
    });

    test('the Host header is compared with the redirect URI, not with the address', async () => {
      const port = await freePort();
      await forwarded({ port });
      for (const host of [`127.0.0.3:${port}`, `127.0.0.1:${port}`, 'localhost:8765', 'evil.example:8765'])
        expect((await requestFrom(gateway, port, `Host: ${host}`)).status).toBe(421);
      const proxied = ['Host: evil.example:8765', 'X-Forwarded-Host: 127.0.0.1:8765'];
      expect((await requestFrom(gateway, port, ...proxied)).status).toBe(421);
      const spoofed = ['Host: 127.0.0.1:8765', `X-Forwarded-For: ${gateway}`, `Forwarded: for=${gateway}`];
      expect((await requestFrom(stranger, port, ...spoofed)).text).toBe('');
    });

    test('an allowed peer without the state ends nothing but its own login attempt', async () => {
      const port = await freePort();
      const { loopback } = await forwarded({ port });
      const socket = connect({ port, host: '127.0.0.3', localAddress: gateway });
      const heard = hear(socket);
      socket.write(head('GET', '/callback', 'Host: 127.0.0.1:8765'));
      expect((await heard).status).toBe(400);
      expect((await requestFrom(gateway, port, 'Host: 127.0.0.1:8765')).status).toBe(303);
      await expect(loopback.taken).resolves.toMatchObject({ kind: 'code' });
    });

    test('connections of other peers do not displace that of the browser', async () => {
      const port = await freePort();
      await forwarded({ port });
      const browser = connect({ port, host: '127.0.0.3', localAddress: gateway });
      const heard = hear(browser);
      browser.write('GET /callback');
      await Promise.all(Array.from({ length: 200 }, () => requestFrom(stranger, port)));
      browser.write(head('', genuine.slice('/callback'.length), 'Host: 127.0.0.1:8765').trimStart());
      expect((await heard).status).toBe(303);
    });

    test('port 0 of the callback URL is the port of the listener', async () => {
      const port = await freePort();
      const { loopback } = await start({ listenAddress: { address: '127.0.0.3', port } });
      expect(loopback.callbackUrl).toBe(`http://127.0.0.1:${port}/callback`);
    });

    test('without allowed peers only this machine is answered', async () => {
      const port = await freePort();
      const { loopback } = await start({ listenAddress: { address: '127.0.0.3', port } });
      const host = `Host: ${new URL(loopback.callbackUrl).host}`;
      expect((await requestFrom(stranger, port, host)).status).toBe(303);
    });

    test('an address that cannot be bound is an error that names it', async () => {
      const failed: Promise<Started> = start({ listenAddress: { address: '192.0.2.1', port: 8765 } });
      const failure = await failed.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'port_in_use', hint: expect.stringContaining('--callback-listen') });
      expectGolden('auth', errorText(failure));
    });
  },
);
