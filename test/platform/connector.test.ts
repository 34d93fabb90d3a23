import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { probeOrigin } from '../../src/platform/connector.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/fake-server.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

it('a server that accepts connections passes, without a request', async () => {
  const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
  await probeOrigin(origin, {}, 5_000);
  expect(seen).toHaveLength(0);
});

it.each([
  ['a closed port', closedOrigin],
  ['a name that does not exist', async () => 'http://server.invalid'],
])('%s is a connection error', async (_, origin) => {
  await expect(probeOrigin(await origin(), {}, 5_000)).rejects.toMatchObject({ name: 'SendError', sent: false });
});

describe.skipIf(!hasIpv6)('an origin with an IPv6 address', () => {
  async function listen(onConnection: (socket: Socket) => void): Promise<number> {
    const server = createServer(onConnection).listen(0, '::1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('is connected without the brackets of the URL', async () => {
    const port = await listen((socket) => socket.on('error', () => undefined));
    await expect(probeOrigin(`http://[::1]:${port}`, {}, 5_000)).resolves.toBeUndefined();
  });

  it('is connected with TLS without a server name', async () => {
    const hellos: string[] = [];
    const port = await listen((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (hello) => {
        hellos.push(hello.toString('latin1'));
        socket.destroy();
      });
    });
    await expect(probeOrigin(`https://[::1]:${port}`, {}, 5_000)).rejects.toMatchObject({ name: 'SendError' });
    expect(hellos).toHaveLength(1);
    expect(hellos[0]).not.toContain('::1');
  });

  it('on which no program listens is a refused connection', async () => {
    const { port } = new URL(await closedOrigin());
    const probe = probeOrigin(`http://[::1]:${port}`, {}, 5_000);
    await expect(probe).rejects.toMatchObject({ name: 'SendError', kind: 'refused', sent: false });
  });
});
