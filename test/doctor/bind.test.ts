import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { bindAll } from '../../src/doctor/bind.ts';
import { bindingKey } from '../../src/doctor/ports.ts';

test('a port with a listener is in use on its family, and free again once the listener ends', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const callback = { href: `http://127.0.0.1:${port}/callback`, port, addresses: ['127.0.0.1'] };
  const during = await bindAll([callback]);
  expect(during.get(bindingKey('127.0.0.1', port))).toBe('EADDRINUSE');
  expect(during.get(bindingKey('::1', port))).not.toBe('EADDRINUSE');
  server.close();
  await once(server, 'close');
  expect((await bindAll([callback])).get(bindingKey('127.0.0.1', port))).toBe('free');
  // Looked at twice: the first look kept nothing.
  expect((await bindAll([callback])).get(bindingKey('127.0.0.1', port))).toBe('free');
});
