import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { genuine } from './loopback-fixture.ts';
import { get, head, listening, type Started, send, start } from './raw-client.ts';

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

async function freePort(): Promise<number> {
  const port = await occupy('127.0.0.1');
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
