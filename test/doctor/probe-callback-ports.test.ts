import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { buildCallbackPortProbeMapKey } from '../../src/doctor/check-login-callback-ports.ts';
import { probeCallbackPorts } from '../../src/doctor/probe-callback-ports.ts';

test('a port with a listener is in use on its family, and free again once the listener ends', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const callback = { href: `http://127.0.0.1:${port}/callback`, port, addresses: ['127.0.0.1'] };
  const during = await probeCallbackPorts([callback]);
  expect(during.get(buildCallbackPortProbeMapKey('127.0.0.1', port))).toBe('EADDRINUSE');
  expect(during.get(buildCallbackPortProbeMapKey('::1', port))).not.toBe('EADDRINUSE');
  server.close();
  await once(server, 'close');
  expect((await probeCallbackPorts([callback])).get(buildCallbackPortProbeMapKey('127.0.0.1', port))).toBe('free');
  // Looked at twice: the first look kept nothing.
  expect((await probeCallbackPorts([callback])).get(buildCallbackPortProbeMapKey('127.0.0.1', port))).toBe('free');
});
