import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { redisCommand } from '../../../../scripts/redis-binaries.mjs';
import { Secret } from '../../../../src/base/secret.ts';
import { cutoverChecklist } from '../../../../src/db/cutover/checklist.ts';
import { type CompareDatabasesOptions, compareDatabases } from '../../../../src/db/cutover/compare.ts';
import { listAcceptable, listAccepted } from '../../../../src/db/cutover/comparison.ts';
import { buildDatabaseComparisonError } from '../../../../src/db/cutover/comparison-text.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { eventually, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { redisEndpointOf } from '../../engine/servers.ts';

let source: RedisServer;
let target: RedisServer;

beforeAll(async () => {
  // Another encoding of the same values, and another order.
  const config = ['list-max-listpack-size 2', 'hash-max-listpack-entries 1', 'zset-max-listpack-entries 1'];
  [source, target] = await Promise.all([startRedis(), startRedis({ config })]);
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

beforeEach(() => {
  for (const server of [source, target]) server.cli('FLUSHALL');
});

const endpoint = (server: RedisServer) => ({ engine: 'redis', source: redisEndpointOf(server) }) as const;

const compare = (more: Partial<CompareDatabasesOptions> = {}) =>
  compareDatabases({
    ...{ source: endpoint(source), target: endpoint(target), ignoreDbs: [], clock: systemClock },
    ...{ signal: new AbortController().signal, maxRounds: 2 },
    ...more,
  });

function fill(server: RedisServer): void {
  const words: readonly (readonly string[])[] = [
    ['SET', 'text', 'one two'],
    ['RPUSH', 'list', 'a', 'b', 'c'],
    ['SADD', 'set', 'x', 'y', 'z'],
    ['HSET', 'hash', 'f', '1', 'g', '2'],
    ['ZADD', 'zset', '0.1', 'm', 'inf', 'n'],
    ['XADD', 'stream', '5-1', 'k', 'v'],
    ['XGROUP', 'CREATE', 'stream', 'readers', '5-1'],
    ['PEXPIREAT', 'text', '4102444800000'],
  ];
  for (const one of words) server.cli(...one);
  server.cli('-n', '3', 'SET', 'other', 'database');
}

test('the same values in other encodings are equal, in every database', async () => {
  fill(source);
  fill(target);
  target.cli('DEL', 'set');
  target.cli('SADD', 'set', 'z', 'y', 'x');
  const report = await compare();
  expect(report).toMatchObject({ state: 'equal', engine: 'redis' });
  expect(report.databases).toMatchObject([
    { name: 'db0', tables: [{ name: 'keys', rows_source: 6, rows_target: 6, state: 'equal' }] },
    { name: 'db3', tables: [{ rows_source: 1 }] },
  ]);
});

test.each([
  ['another value', ['SET', 'text', 'one  two', 'KEEPTTL']],
  ['another type', ['SET', 'list', 'abc']],
  ['another order of a list', ['RPOPLPUSH', 'list', 'list']],
  ['another member', ['SADD', 'set', 'w']],
  ['another field', ['HSET', 'hash', 'g', '3']],
  ['another score', ['ZADD', 'zset', '0.10000000000000002', 'm']],
  ['another entry', ['XADD', 'stream', '6-1', 'k', 'v']],
  ['another position of a group', ['XGROUP', 'SETID', 'stream', 'readers', '0']],
  ['another expiry', ['PEXPIREAT', 'text', '4102444800001']],
  ['no expiry', ['PERSIST', 'text']],
  ['a key less', ['DEL', 'hash']],
  ['a key more', ['SET', 'more', '1']],
])('%s on the target differs', async (_what, words) => {
  fill(source);
  fill(target);
  target.cli(...words);
  expect((await compare()).databases[0]?.tables).toMatchObject([{ state: 'differs', error: expect.any(String) }]);
});

test('large values are read in parts', async () => {
  const script = `for n = 1, 5000 do redis.call('RPUSH', 'l', n) redis.call('SADD', 's', n) redis.call('ZADD', 'z', n, n)
    redis.call('XADD', 'x', n .. '-1', 'n', n) end redis.call('SET', 't', string.rep('x', 3000000))`;
  for (const server of [source, target]) server.cli('EVAL', script, '0');
  expect((await compare()).state).toBe('equal');
  target.cli('SETRANGE', 't', '2500000', 'y');
  expect((await compare()).databases[0]?.tables[0]?.error).toContain('t');
});

test('a set that is too large to be read is named, and accepted by the word of the hint', async () => {
  const fill = `for n = 1, 1000001 do redis.call('SADD', 'large', n) end redis.call('SET', 'k', 'v')`;
  for (const server of [source, target]) server.cli('EVAL', fill, '0');
  const open = await compare();
  expect(open.databases[0]?.tables).toMatchObject([{ state: 'not_comparable', acceptable: true }]);
  const line = cutoverChecklist({ engine: 'redis', migration: 'm', contents: open }).find(
    ({ id }) => id === 'contents',
  );
  const error = buildDatabaseComparisonError(open, 'cloudctl db compare');
  expectGolden('db-compare', [line?.observed, error.detail, error.hint].join('\n'));
  const [word = ''] = listAcceptable(open);
  const accepted = await compare({ accepted: [word] });
  expect([accepted.state, listAccepted(accepted)]).toEqual(['equal', [expect.stringContaining('large')]]);
  target.cli('SREM', 'large', '7');
  expect(await compare({ accepted: [word] })).toMatchObject({ state: 'differs' });
}, 60_000);

test.skipIf(redisCommand('redis-8.0') === undefined)('vector sets are accepted in the same way', async () => {
  const servers = await Promise.all([startRedis({ program: 'redis-8.0' }), startRedis({ program: 'redis-8.0' })]);
  const [from, to] = servers.map(endpoint);
  try {
    for (const [at, server] of servers.entries()) server.cli('VADD', 'v', 'VALUES', '2', '1', String(at), 'element');
    const more = from === undefined || to === undefined ? {} : { source: from, target: to };
    const open = await compare(more);
    expect(open.databases[0]?.tables).toMatchObject([
      { error: expect.stringMatching(/v \(.*vectorset/), acceptable: true },
    ]);
    expect(await compare({ ...more, accepted: listAcceptable(open) })).toMatchObject({ state: 'equal' });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});

test('a server that is written to is not comparable, even when every key is equal at last', async () => {
  source.cli('SET', 'k', '1');
  // Called before a key that is not equal is read again.
  const sleep = async () => void target.cli('SET', 'k', '1');
  target.cli('SET', 'k', '2');
  expect((await compare()).databases[0]?.tables).toMatchObject([{ state: 'differs' }]);
  const written = await compare({ clock: { ...systemClock, sleep } });
  expect(written.databases[0]?.tables).toMatchObject([{ state: 'not_comparable', error: expect.any(String) }]);
});

test('a replica without its primary is behind', async () => {
  source.cli('SET', 'k', '1');
  target.cli('REPLICAOF', '127.0.0.1', '1');
  const report = await compare();
  target.cli('REPLICAOF', 'NO', 'ONE');
  expect(report.databases[0]?.tables).toMatchObject([{ state: 'not_comparable' }]);
});

test('of a cluster only one node was compared, which is not equal', async () => {
  const node = await startRedis({ config: ['cluster-enabled yes'] });
  try {
    const { state, databases } = await compare({ source: endpoint(node) });
    expect([state, databases.map(({ name }) => name)]).toEqual(['not_comparable', ['cluster']]);
  } finally {
    await node.stop();
  }
});

test('a user who may not read keys gets no result', async () => {
  source.cli('SET', 'k', '1');
  source.cli('ACL', 'SETUSER', 'lister', 'on', '>pw', '~*', '+info', '+select', '+scan', '+ping');
  const lister = redisEndpointOf(source, { username: 'lister', password: new Secret('pw') });
  const { databases } = await compare({ source: { engine: 'redis', source: lister } });
  expect(databases).toMatchObject([{ name: 'db0', state: 'not_comparable', error: expect.any(String) }]);
});

test.skipIf(lacks('valkey-server'))('values of another product are equal', async () => {
  const valkey = await startRedis({ program: 'valkey' });
  try {
    fill(source);
    fill(valkey);
    expect((await compare({ target: endpoint(valkey) })).state).toBe('equal');
  } finally {
    await valkey.stop();
  }
});

test('the same server twice is a usage error, and a server that does not respond is named', async () => {
  await expect(compare({ target: endpoint(source) })).rejects.toMatchObject({ code: 'usage' });
  const closed = { engine: 'redis', source: redisEndpointOf(target, { port: 1 }) } as const;
  await expect(compare({ target: closed })).rejects.toMatchObject({ code: 'unreachable' });
  await expect(compare({ source: closed })).rejects.toMatchObject({ code: 'source_unreachable' });
});

/** A primary with its replica, streaming. */
async function replicated(config: readonly string[] = []) {
  const primary = await startRedis({ config });
  const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${primary.port}`] });
  onTestFinished(async () => void (await Promise.all([primary.stop(), replica.stop()])));
  await eventually(() => replica.cli('INFO', 'replication').includes('master_link_status:up'), 'the replica');
  return { primary, replica, both: { source: endpoint(primary), target: endpoint(replica) } };
}

test('keys that expire while a replica receives their deletion are no writes: the comparison ends equal', async () => {
  const { primary, both } = await replicated();
  const script = `for n = 1, 30000 do redis.call('SET', 'k' .. n, n, 'PX', 200 + n % 4000) end
    for n = 1, 3000 do redis.call('SET', 'kept' .. n, n, 'EX', 3600) end`;
  primary.cli('EVAL', script, '0');
  const started = Date.now();
  const { state, databases } = await compare(both);
  const [keys] = databases[0]?.tables ?? [];
  expect([state, keys?.state, keys?.error]).toEqual(['equal', 'equal', undefined]);
  expect(keys?.rows_equal).toBeGreaterThanOrEqual(3000);
  expect(Date.now() - started).toBeLessThan(10_000);
});

test('a write of an application beside keys that expire is seen', async () => {
  const { primary, both } = await replicated();
  primary.cli('EVAL', "for n = 1, 20000 do redis.call('SET', 'k' .. n, n, 'PX', 100 + n % 3000) end", '0');
  const writing = setInterval(() => primary.cli('SET', 'k1', String(Date.now())), 100);
  const { databases } = await compare(both).finally(() => clearInterval(writing));
  expect(databases[0]?.tables).toMatchObject([{ state: 'not_comparable', error: expect.stringMatching(/written/) }]);
});

test('a key with another value is found beside keys that expire', async () => {
  const { primary, replica, both } = await replicated();
  primary.cli('EVAL', "for n = 1, 3000 do redis.call('SET', 'k' .. n, n, 'PX', 500 + n % 3000) end", '0');
  primary.cli('SET', 'long', 'a', 'EX', '3600');
  await eventually(() => replica.cli('GET', 'long') === 'a', 'the last key');
  replica.cli('REPLICAOF', 'NO', 'ONE');
  replica.cli('SET', 'long', 'b', 'EX', '3600');
  const { databases } = await compare(both);
  expect(databases[0]?.tables).toMatchObject([{ state: 'differs', error: '1 key differs: long' }]);
});
