import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect, createServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../src/platform/connector.ts';
import { readTlsInfo } from '../../src/platform/network-errors.ts';
import { makeCertificates } from '../fixtures/certificates.ts';
import { trusting } from './certificates.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe.skipIf(!hasIpv6)('the certificate of an origin with an IPv6 address', () => {
  async function connectTo(names: string): Promise<{ readonly remoteAddress?: string | undefined }> {
    const { ca, certificate, key } = makeCertificates(1, names);
    const server = createServer({ cert: certificate, key }, (socket) => socket.on('error', () => undefined));
    server.listen(0, '::1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connector = createConnector({ proxyFor: () => undefined, limit: 5_000, trust: trusting(ca) });
    const socket = await connector.connect(new URL(`https://[::1]:${port}`));
    const { remoteAddress } = socket;
    socket.destroy();
    return { remoteAddress };
  }

  it('is accepted with this address', async () => {
    expect(await connectTo('IP:::1')).toEqual({ remoteAddress: '::1' });
  });

  it('is refused with another address', async () => {
    await expect(connectTo('IP:::2')).rejects.toMatchObject({ name: 'SendError', kind: 'tls' });
  });
});

it('what was agreed is told with the dates and names of the certificate', async () => {
  const { certificate, key } = makeCertificates(90);
  const server = createServer({ cert: certificate, key, minVersion: 'TLSv1.3' }, (socket) =>
    socket.on('error', () => {}),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'secureConnect');
  const { version, certificate: seen } = readTlsInfo(socket);
  expect(version).toBe('TLSv1.3');
  expect(seen?.selfSigned).toBe(false);
  expect(seen?.issuer).not.toBe(seen?.subject);
  const days = ((seen?.validTo ?? 0) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(88);
  expect(days).toBeLessThan(92);
});
