import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { HttpSendError, readResponseBodyText } from '../../src/platform/http-sender.ts';

import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import { serverFor } from '../fixtures/fake-server.ts';

const get = () => ({ method: 'GET', headers: {}, signal: AbortSignal.timeout(5_000), redirect: 'manual' as const });

it('a compressed body arrives as it was before', async () => {
  const text = JSON.stringify({ droplets: Array.from({ length: 2_000 }, (_, id) => ({ id, name: 'wéb' })) });
  const { origin, seen } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
  );
  const send = await createUndiciSender({ env: {} });
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
  const send = await createUndiciSender({ env: {} });
  const failure = await send(origin, get())
    .then((answer) => answer.text())
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(HttpSendError);
  expect(failure).toMatchObject({ kind: 'connection', sent: true });
});

it.each([
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['BR', brotliCompressSync],
] as const)('an answer in %s, which nobody asked for, is read all the same', async (name, pack) => {
  const { origin } = await serverFor((_, response) =>
    response.writeHead(200, { 'content-encoding': name }).end(pack('{"refresh_token":"the only one"}')),
  );
  const send = await createUndiciSender({ env: {} });
  expect(await readResponseBodyText(await send(origin, get()), 1_000)).toBe('{"refresh_token":"the only one"}');
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
  const answer = await (await createUndiciSender({ env: {} }))(origin, {
    ...get(),
    signal: new AbortController().signal,
  });
  await expect(answer.text()).rejects.toMatchObject({ name: 'SendError', sent: true });
  await isClosed;
});

it('a header that came twice is one, and one that did not come is null', async () => {
  const { origin } = await serverFor((_, response) => response.setHeader('warning', ['a', 'b']).end());
  const { headers } = await (await createUndiciSender({ env: {} }))(origin, get());
  expect([headers.get('Warning'), headers.get('retry-after')]).toEqual(['a, b', null]);
});
