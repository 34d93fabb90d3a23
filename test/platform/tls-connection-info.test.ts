import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { readTlsInfoOfSocket } from '../../src/platform/network-errors.ts';
import { makeCertificates } from '../fixtures/certificates.ts';

test('what was agreed is told with the dates and names of the certificate', async () => {
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
  const { version, certificate: seen } = readTlsInfoOfSocket(socket);
  expect(version).toBe('TLSv1.3');
  expect(seen?.selfSigned).toBe(false);
  expect(seen?.issuer).not.toBe(seen?.subject);
  const days = ((seen?.validTo ?? 0) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(88);
  expect(days).toBeLessThan(92);
});
