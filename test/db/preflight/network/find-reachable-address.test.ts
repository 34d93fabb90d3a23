import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findReachable, type NameResolver } from '../../../../src/db/preflight/network/addresses.ts';

let server: Server;
let port = 0;
let closedPort = 0;

beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => {}));
  port = await listening(server);
  const other = createServer();
  closedPort = await listening(other);
  await new Promise((resolve) => other.close(resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function listening(on: Server): Promise<number> {
  await new Promise<void>((resolve) => on.listen(0, '127.0.0.1', resolve));
  const address = on.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const absent = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
const never = () => new Promise<readonly string[]>(() => {});
function namesOf(lookup: readonly string[], more: Partial<NameResolver> = {}): NameResolver {
  return { lookup: async () => lookup, resolve4: async () => lookup, resolve6: () => Promise.reject(absent), ...more };
}
const options = { contradictions: [], limit: 300, signal: AbortSignal.timeout(10_000) };

test('an address is not looked up', async () => {
  const names = { lookup: never, resolve4: never, resolve6: never };
  const search = findReachable('127.0.0.1', port, { ...options, names });
  expect(await search.firstReachable).toBe('127.0.0.1');
  expect(await search.facts).toMatchObject({
    kind: 'address',
    lookup: { kind: 'found', addresses: ['127.0.0.1'] },
    connects: [{ address: '127.0.0.1' }],
  });
});

test('every address is tried once, and one that answers is dialled', async () => {
  const names = namesOf(['127.0.0.2', '127.0.0.1']);
  const search = findReachable('db.example.com', port, { ...options, names });
  expect(await search.firstReachable).toBe('127.0.0.1');
  const { connects, dns6 } = await search.facts;
  expect(connects.map(({ address, error }) => [address, error])).toEqual([
    ['127.0.0.2', 'ECONNREFUSED'],
    ['127.0.0.1', undefined],
  ]);
  expect(dns6).toMatchObject({ kind: 'failed', code: 'ENOTFOUND' });
});

test('without an accepted connection there is no reachable address', async () => {
  const search = findReachable('127.0.0.1', closedPort, options);
  expect(await search.firstReachable).toBeUndefined();
  expect((await search.facts).connects[0]?.error).toBe('ECONNREFUSED');
});

test('a name server that does not answer holds nobody up beyond the limit', async () => {
  const began = Date.now();
  const names = namesOf(['127.0.0.1'], { resolve4: never, resolve6: never });
  const search = findReachable('db.example.com', port, { ...options, names });
  expect(await search.firstReachable).toBe('127.0.0.1');
  expect(Date.now() - began).toBeLessThan(250);
  expect((await search.facts).dns4).toMatchObject({ kind: 'failed', code: 'ETIMEOUT' });
  expect(Date.now() - began).toBeLessThan(2000);
});

test('a name nobody knows has nothing to try', async () => {
  const names = namesOf([], { lookup: () => Promise.reject(absent) });
  const search = findReachable('nowhere.example', port, { ...options, names });
  expect(await search.firstReachable).toBeUndefined();
  expect(await search.facts).toMatchObject({ lookup: { kind: 'failed', code: 'ENOTFOUND' }, connects: [] });
});

test('a name of this machine is looked up here, and DNS is not bothered with it', async () => {
  const search = findReachable('localhost', port, { ...options, limit: 2000 });
  expect(await search.firstReachable).toBe('127.0.0.1');
  expect(await search.facts).toMatchObject({ kind: 'name', dns4: { code: 'NOT_ASKED' }, dns6: { code: 'NOT_ASKED' } });
});

test('the signal ends the tries', async () => {
  const search = findReachable('127.0.0.1', port, { ...options, signal: AbortSignal.abort() });
  expect(await search.firstReachable).toBeUndefined();
  expect((await search.facts).connects[0]?.error).toBe('ABORTED');
});

test('contradictions are handed on', async () => {
  const search = findReachable('127.0.0.1', port, { ...options, contradictions: ['x'] });
  expect((await search.facts).contradictions).toEqual(['x']);
});
