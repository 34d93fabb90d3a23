import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  type AllowedCallbackClientNetwork,
  parseAllowedCallbackClientNetwork,
} from '../../../src/auth/loopback/allowed-callback-client-network.ts';
import type { CallbackListenAddress } from '../../../src/auth/loopback/bind-listener.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { genuine } from './loopback-fixture.ts';
import { head, hear, listening, type RawAnswer, type Started, start } from './raw-client.ts';

const [gateway, stranger] = ['127.0.0.5', '127.0.0.6'];

function networks(...texts: readonly string[]): readonly AllowedCallbackClientNetwork[] {
  return texts.flatMap((text) => {
    const parsed = parseAllowedCallbackClientNetwork(text);
    return parsed.ok ? [parsed.network] : [];
  });
}

/** A listener at 127.0.0.3, whose redirect URI has another address and port, as in a container. */
async function forwarded(own: Partial<CallbackListenAddress> = {}) {
  const refused: string[] = [];
  const started = await start({
    callbackUrls: ['http://127.0.0.1:8765/callback'],
    listenAddress: { address: '127.0.0.3', port: await freePort(), allowedPeers: networks(`${gateway}/32`), ...own },
    onRefusedPeer: (address, reason) => refused.push(`${reason} ${address}`),
  });
  return { ...started, refused };
}

async function freePort(): Promise<number> {
  const probe = await start({ callbackUrls: ['http://127.0.0.3:0/callback'] });
  await probe.loopback.close();
  return probe.port;
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
