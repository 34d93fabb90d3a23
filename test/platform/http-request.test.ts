import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { readBody, SendError } from '../../src/platform/http-sender.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { serverFor } from '../fixtures/fake-server.ts';

const get = () => ({ method: 'GET', headers: {}, signal: AbortSignal.timeout(5_000), redirect: 'manual' as const });

it('a compressed body arrives as it was before', async () => {
  const text = JSON.stringify({ droplets: Array.from({ length: 2_000 }, (_, id) => ({ id, name: 'wéb' })) });
  const { origin, seen } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
  );
  const send = await undiciSender({ env: {} });
  expect(await (await send(origin, get())).text()).toBe(text);
  expect(seen[0]?.headers).toMatchObject({
    'accept-encoding': 'gzip',
    'user-agent': expect.stringMatching(/^cloudctl\//),
  });
});

it('a compressed body that breaks off is a failure, not a shorter body', async () => {
  const { origin } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(10_000)).subarray(0, 20)),
  );
  const send = await undiciSender({ env: {} });
  const failure = await send(origin, get())
    .then((answer) => answer.text())
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SendError);
  expect(failure).toMatchObject({ kind: 'connection', sent: true });
});

it.each([
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['BR', brotliCompressSync],
  ['gzip ', gzipSync],
  ['\tGZip', gzipSync],
] as const)('an answer in %s, which nobody asked for, is read all the same', async (name, pack) => {
  const { origin } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': name }).end(pack('{"refresh_token":"the only one"}')),
  );
  const send = await undiciSender({ env: {} });
  expect(await readBody(await send(origin, get()), 1_000)).toBe('{"refresh_token":"the only one"}');
});

it('the connection of what is no gzip at all is closed, though its answer does not end', async () => {
  let closed = (): void => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const { origin } = await serverFor((_, response) => {
    response.once('close', closed);
    response.writeHead(200, { 'content-encoding': 'gzip' }).write('this is no gzip at all');
  });
  // As a request of a batch has it: no deadline ends it.
  const answer = await (await undiciSender({ env: {} }))(origin, {
    ...get(),
    signal: new AbortController().signal,
  });
  await expect(answer.text()).rejects.toMatchObject({ name: 'SendError', sent: true });
  await isClosed;
});

it('a header that came twice is one, and one that did not come is null', async () => {
  const { origin } = await serverFor((_, response) => response.setHeader('warning', ['a', 'b']).end());
  const { headers } = await (await undiciSender({ env: {} }))(origin, get());
  expect([headers.get('Warning'), headers.get('retry-after')]).toEqual(['a, b', null]);
});

it('what follows the end of a compressed body does not keep its reader or its connection', async () => {
  let closed = (): void => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const { origin } = await serverFor((_, response) => {
    response.once('close', closed);
    response
      .writeHead(200, { 'content-encoding': 'gzip' })
      .write(Buffer.concat([gzipSync('all'), Buffer.alloc(2_000)]));
  });
  const send = await undiciSender({ env: {} });
  const answer = await send(origin, { ...get(), signal: new AbortController().signal });
  expect(await answer.text()).toBe('all');
  await isClosed;
});

/** A server that handles each connection itself, from its first byte. */
async function rawServer(handle: (socket: Socket) => void, sockets: Socket[] = []): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => handle(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a request that is given up while its connection is made fails at once, and is never sent', async () => {
  let received = '';
  let admit = (): void => {};
  const admitted = new Promise<void>((resolve) => {
    admit = resolve;
  });
  const proxy = await rawServer(async (socket) => {
    await admitted;
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
  });
  const send = await undiciSender({ env: { HTTP_PROXY: `http://${proxy}`, HTTPS_PROXY: `http://${proxy}` } });
  const control = new AbortController();
  // Another request, so that the connection is made to its end.
  const other = send('http://api.example.test/other', { ...get(), signal: AbortSignal.timeout(500) });
  const request = send('http://api.example.test/mine', { ...get(), signal: control.signal });
  setTimeout(() => control.abort(), 50);
  await expect(request).rejects.toMatchObject({ kind: 'aborted', sent: false });
  admit();
  await expect(other).rejects.toMatchObject({ kind: 'timeout' });
  expect(received).toContain('/other');
  expect(received).not.toContain('/mine');
});

it.each([false, true])('a request that is given up does not use a connection (sent: %s)', async (isSent) => {
  const sockets: Socket[] = [];
  let closed = (): void => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const control = new AbortController();
  const host = await rawServer((socket) => {
    socket.once('close', closed);
    control.abort();
  }, sockets);
  if (!isSent) control.abort();
  const send = await undiciSender({ env: {} });
  const request = send(`http://${host}/`, { ...get(), signal: control.signal });
  await expect(request).rejects.toMatchObject({ kind: 'aborted', sent: isSent });
  // undici opens the next connection when it closes this one.
  if (isSent) await isClosed;
  else expect(sockets).toEqual([]);
});

it('an informational response is not the answer', async () => {
  const host = await rawServer((socket) =>
    socket.end('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  );
  const answer = await (await undiciSender({ env: {} }))(`http://${host}/`, get());
  expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
});

it('a server that is faster than its reader has to wait', async () => {
  const all = 64 * 2 ** 20;
  let written = 0;
  const { origin } = await serverFor(async (_, response) => {
    for (const chunk = Buffer.alloc(2 ** 20); written < all; written += chunk.length)
      if (!response.write(chunk)) await once(response, 'drain');
    response.end();
  });
  const { body } = await (await undiciSender({ env: {} }))(origin, get());
  for (let before = -1; before < written; ) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  // What the sockets of both sides hold, not all.
  expect(written).toBeLessThan(all / 2);
  let read = 0;
  for await (const chunk of body ?? []) read += chunk.length;
  expect(read).toBe(all);
});

it('requests of one signal give no warning and leave no listener', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const { origin } = await serverFor((_, response) => void setTimeout(() => response.end('x'), 50));
  const { signal } = new AbortController();
  const send = await undiciSender({ env: {} });
  const answers = Array.from({ length: 32 }, async () => (await send(origin, { ...get(), signal })).text());
  expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(10);
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'x'));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
});

it.each(['identity', 'gzip'])(
  'a body in %s that breaks off before it is read fails when it is read',
  async (coding) => {
    const host = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-encoding: ${coding}\r\n\r\nabc`);
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const { signal } = new AbortController();
    const answer = await (await undiciSender({ env: {} }))(`http://${host}/`, { ...get(), signal });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expect(answer.text()).rejects.toMatchObject({ name: 'SendError', kind: 'connection', sent: true });
  },
);

const flush = { finishFlush: constants.Z_SYNC_FLUSH };

it.each([
  ['identity', (text: string) => Buffer.from(text)],
  ['gzip', (text: string) => gzipSync(text, flush)],
  ['deflate', (text: string) => deflateSync(text, flush)],
  ['br', (text: string) => brotliCompressSync(text, { finishFlush: constants.BROTLI_OPERATION_FLUSH })],
] as const)('all that has arrived of a body in %s that breaks off is read before the failure', async (coding, pack) => {
  const text = JSON.stringify({ refresh_token: 'the only one' });
  // Without the end of the compressed data, as after a flush of the server.
  const packed = pack(text);
  const host = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\ncontent-encoding: ${coding}\r\n\r\n`);
    const parts = Array.from({ length: packed.length }, (_, at) => packed.subarray(at, at + 1));
    for (const part of parts) socket.write(part);
    socket.end();
  });
  const answer = await (await undiciSender({ env: {} }))(`http://${host}/`, get());
  // A reader that is late, as one that writes a journal before.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const chunks: Uint8Array[] = [];
  const reading = async (): Promise<void> => {
    for await (const chunk of answer.body ?? []) {
      chunks.push(chunk);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await expect(reading()).rejects.toMatchObject({ name: 'SendError', kind: 'connection', sent: true });
  expect(Buffer.concat(chunks).toString()).toBe(text);
});

it('what is decompressed of a gzip without its end is read before the failure', async () => {
  const text = 'x'.repeat(100_000);
  const { origin } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text).subarray(0, -8)),
  );
  const { body } = await (await undiciSender({ env: {} }))(origin, get());
  let size = 0;
  const reading = async (): Promise<void> => {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await expect(reading()).rejects.toMatchObject({ name: 'SendError', kind: 'connection', sent: true });
  expect(size).toBe(text.length);
});

it.each(['HEAD', 'DELETE'])('the answer to %s without a body has none to read', async (method) => {
  const { origin } = await serverFor((_, response) => response.writeHead(method === 'HEAD' ? 200 : 204).end());
  const answer = await (await undiciSender({ env: {} }))(origin, { ...get(), method });
  expect([answer.body, await answer.text()]).toEqual([null, '']);
});
