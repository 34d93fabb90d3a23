import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../scripts/free-port.mjs';
import { Secret } from '../../../src/base/secret.ts';
import { breakSaving, write } from '../../db/preflight/redis/real.ts';
import { eventually, type RedisServer, redisProgram, startRedis } from '../../fixtures/redis.ts';
import type { Prepared, RedisCase } from './case.ts';

const admin = 'user default on nopass ~* &* +@all';
const mover = { username: 'mover', password: new Secret('pw') };
const toRedis = () => ({ program: 'redis' }) as const;

/** An address of this machine that is not loopback. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

export const redisCases: readonly RedisCase[] = [
  { name: 'base, to Valkey', verdict: 'continuous', quick: true },
  { name: 'base, to Redis', verdict: 'continuous', quick: true, target: toRedis },
  { name: 'base, from Valkey', verdict: 'continuous', source: { program: 'valkey' } },
  {
    name: 'newer than the target',
    verdict: 'blocked',
    reasons: ['version-not-newer'],
    source: { program: 'valkey' },
    target: toRedis,
  },
  {
    name: 'a password',
    verdict: 'continuous',
    source: { config: ['requirepass "correct horse"'] },
    password: 'correct horse',
    connection: { password: new Secret('correct horse') },
  },
  {
    name: 'a wrong password',
    verdict: 'blocked',
    reasons: ['auth'],
    quick: true,
    source: { config: ['requirepass right'] },
    password: 'right',
    connection: { password: new Secret('wrong') },
  },
  {
    name: 'no password where one is wanted',
    verdict: 'blocked',
    reasons: ['auth'],
    source: { config: ['requirepass right'] },
    password: 'right',
  },
  {
    name: 'a password where none is wanted',
    verdict: 'blocked',
    reasons: ['auth'],
    connection: { password: new Secret('needless') },
  },
  {
    name: 'a user without PSYNC',
    verdict: 'scan',
    reasons: ['acl-psync'],
    quick: true,
    source: { acl: [admin, 'user mover on >pw ~* &* +@all -psync -sync -replconf'] },
    connection: mover,
  },
  {
    name: 'a user who may replicate and ask nothing else',
    verdict: 'continuous',
    unproven: ['psync-command', 'acl-psync', 'databases-count', 'functions-etc', 'big-keys', 'renamed-writes'],
    source: { acl: [admin, 'user mover on >pw ~* +psync +replconf +ping +info'] },
    connection: mover,
  },
  {
    name: 'a user without a password, and the default user may not replicate',
    verdict: 'scan',
    reasons: ['acl-psync'],
    source: { acl: ['user default on nopass ~* &* +@all -psync -sync', 'user mover on nopass ~* +@all'] },
    connection: { username: 'mover' },
  },
  {
    name: 'a user who needs no password, with any',
    verdict: 'continuous',
    source: { acl: [admin, 'user mover on nopass ~* +@all'] },
    connection: mover,
  },
  {
    name: 'a password of odd characters',
    verdict: 'continuous',
    source: { acl: [admin, `user mover on >a"b'c@:/?#%é ~* +@all`] },
    connection: { username: 'mover', password: new Secret(`a"b'c@:/?#%é`) },
  },
  {
    name: 'a user who may read keys alone',
    verdict: 'continuous',
    source: { acl: [admin, 'user mover on >pw %R~* +@all'] },
    connection: mover,
  },
  {
    name: 'a user who may write keys alone, without PSYNC',
    verdict: 'blocked',
    reasons: ['acl-psync', 'acl-scan'],
    source: { acl: [admin, 'user mover on >pw %W~* +@all -psync -sync'] },
    connection: mover,
  },
  {
    name: 'a user who replicates by a selector',
    verdict: 'continuous',
    unproven: ['psync-command', 'acl-psync', 'databases-count', 'functions-etc', 'big-keys', 'renamed-writes'],
    source: { acl: [admin, 'user mover on >pw +ping +info (+psync +replconf ~*)'] },
    connection: mover,
  },
  {
    name: 'PSYNC and SYNC renamed',
    verdict: 'scan',
    reasons: ['psync-command'],
    quick: true,
    source: { config: ['rename-command PSYNC ""', 'rename-command SYNC ""'] },
  },
  {
    name: 'PSYNC alone renamed, and copies go over the disk',
    verdict: 'continuous',
    unproven: ['bgsave-broken'],
    source: { config: ['rename-command PSYNC ""', 'repl-diskless-sync no'] },
  },
  { name: 'REPLCONF renamed', verdict: 'continuous', source: { config: ['rename-command REPLCONF ""'] } },
  {
    name: 'a command that writes is called by another name',
    verdict: 'scan',
    reasons: ['renamed-writes'],
    filled: [0],
    source: { config: ['rename-command LPUSH hidden-push'] },
    last: [['hidden-push', 'queue', 'a']],
    before: async (source) => say(source, (at) => `hidden-push {q}${at} x\r\n`, 3000),
  },
  {
    name: 'XGROUP is called by another name',
    verdict: 'scan',
    reasons: ['renamed-writes'],
    filled: [0],
    source: { config: ['rename-command XGROUP hidden-group'] },
    last: [['hidden-group', 'create', 'stream', 'g', '0']],
    before: async (source) => say(source, (at) => `hidden-group create {q}${at} g 0 mkstream\r\n`, 3000),
  },
  { name: 'CONFIG renamed', verdict: 'continuous', source: { config: ['rename-command CONFIG ""'] } },
  {
    name: 'a cluster of two shards',
    verdict: 'scan',
    reasons: ['cluster-source'],
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: secondShard,
  },
  {
    name: 'a cluster of one shard',
    verdict: 'continuous',
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: onlyShard,
  },
  {
    name: 'a replica in a cluster of one shard',
    verdict: 'continuous',
    unproven: ['cluster-source'],
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: replicaOfShard,
  },
  {
    name: 'a cluster of Valkey 9 with as many databases as the target',
    verdict: 'continuous',
    source: { program: 'valkey-9.1', config: ['cluster-enabled yes', 'cluster-databases 16'] },
    target: () => ({ program: 'valkey-9.1' }),
    filled: [0],
    before: onlyShard,
  },
  {
    name: 'a cluster of Valkey 9 with more databases than the target',
    verdict: 'continuous',
    unproven: ['databases-count'],
    source: { program: 'valkey-9.1', config: ['cluster-enabled yes', 'cluster-databases 32'] },
    target: () => ({ program: 'valkey-9.1' }),
    filled: [0],
    before: async (source) => {
      await onlyShard(source);
      const { end } = onceFollowed(source, () => 'SELECT 20\r\nSET key:1 y\r\nDEL key:1\r\n');
      return { primaries: [source], ...(end === undefined ? {} : { end }) };
    },
    differs: {
      truth: 'scan',
      why: 'which databases will be selected is not known beforehand; the report says what must not happen',
    },
  },
  {
    name: 'a cluster of one shard that gives a slot away',
    verdict: 'blocked',
    reasons: ['cluster-source'],
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: emptiedShard,
  },
  {
    name: 'a key in database 20',
    verdict: 'blocked',
    reasons: ['databases-count'],
    quick: true,
    source: { config: ['databases 32'] },
    filled: [0, 20],
  },
  {
    name: 'more databases than the target, which are empty',
    verdict: 'continuous',
    unproven: ['databases-count'],
    source: { config: ['databases 32'] },
  },
  { name: 'a replica with its primary', verdict: 'continuous', before: (source) => follow(source, false) },
  {
    name: 'a replica of a replica that has lost its primary',
    verdict: 'continuous',
    unproven: ['role-replica'],
    before: chain,
    differs: {
      truth: 'scan',
      why: 'how often the primary pings is not known to a replica; the report says how to find out whether it is up',
    },
  },
  {
    name: 'a replica whose primary pings seldom',
    verdict: 'continuous',
    unproven: ['role-replica'],
    before: async (source) => {
      const prepared = await follow(source, false);
      source.cli('config', 'set', 'repl-ping-replica-period', '1');
      await eventually(() => source.cli('info', 'replication').includes('master_last_io_seconds_ago:4'), 'the silence');
      return prepared;
    },
  },
  {
    name: 'a replica that has lost its primary',
    verdict: 'scan',
    reasons: ['role-replica'],
    before: (source) => follow(source, true),
  },
  {
    name: 'a replica that has lost its primary and rejects commands',
    verdict: 'blocked',
    reasons: ['role-replica'],
    source: { config: ['replica-serve-stale-data no'] },
    before: (source) => follow(source, true),
  },
  {
    name: 'a replica that takes writes',
    verdict: 'scan',
    reasons: ['role-replica'],
    before: async (source) => {
      const { end } = await follow(source, false);
      source.cli('config', 'set', 'replica-read-only', 'no');
      return { primaries: [source], ...(end === undefined ? {} : { end }) };
    },
  },
  {
    name: 'a cluster with a slot that no node serves',
    verdict: 'blocked',
    reasons: ['cluster-source'],
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: slotless,
  },
  {
    name: 'saving failed, and writes are refused',
    verdict: 'scan',
    reasons: ['ping-refused'],
    source: { config: ['save 3600 1', 'repl-diskless-sync yes'] },
    before: async (source) => {
      source.cli('set', 'a', 'x');
      source.cli('-n', '3', 'set', 'b', 'x');
      await breakSaving(source);
      return { primaries: [source] };
    },
  },
  {
    name: 'a full source that is written to',
    verdict: 'scan',
    reasons: ['source-memory'],
    filled: [0],
    source: { config: ['enable-debug-command yes'] },
    before: async (source) => nearlyFull(source),
  },
  {
    name: 'a Sentinel monitors the source',
    verdict: 'continuous',
    unproven: ['sentinel'],
    before: watchedBySentinel,
  },
  {
    name: 'no connection is free for the application',
    verdict: 'scan',
    reasons: ['maxclients'],
    filled: [0],
    source: { config: ['maxclients 34'] },
    before: async (source) => idle(source, 32),
  },
  {
    name: 'no connection is free',
    verdict: 'blocked',
    reasons: ['maxclients'],
    last: [['config', 'set', 'maxclients', '33']],
    before: async (source) => idle(source, 32),
  },
  {
    name: 'enough connections are free',
    verdict: 'continuous',
    filled: [0],
    source: { config: ['maxclients 48'] },
    before: async (source) => idle(source, 32),
  },
  { name: 'idle clients are sent away after a second', verdict: 'continuous', source: { config: ['timeout 1'] } },
  {
    name: 'streams with entries that wait, odd names, keys that expire meanwhile',
    verdict: 'continuous',
    filled: [0],
    last: [
      ['xgroup', 'create', 'stream', 'g', '0'],
      ['xreadgroup', 'group', 'g', 'c', 'streams', 'stream', '>'],
      ['set', '', 'empty'],
      ['eval', "return redis.call('set', string.char(27, 91, 51, 49, 109, 226, 128, 174, 0, 10, 13, 255), 'x')", '0'],
      ['eval', "for i = 1, 2000 do redis.call('set', 'e' .. i, 'x', 'PX', 500 + i * 3) end", '0'],
    ],
  },
  {
    name: 'more data than the target has memory',
    verdict: 'blocked',
    reasons: ['maxmemory'],
    last: [['debug', 'populate', '2000', 'filler', '10000']],
    source: { config: ['enable-debug-command yes'] },
    target: () => ({ program: 'valkey', config: ['maxmemory 8mb', 'maxmemory-policy noeviction'] }),
    options: { targetMemory: 8 * 1024 ** 2 },
  },
  {
    name: 'writes that want a replica',
    verdict: 'continuous',
    last: [['config', 'set', 'min-replicas-to-write', '1']],
  },
  {
    name: 'a small output buffer and little to do',
    verdict: 'continuous',
    source: { config: ['client-output-buffer-limit replica 1mb 512kb 10'] },
  },
  {
    name: 'a small output buffer and much to do',
    verdict: 'scan',
    reasons: ['replica-output-buffer'],
    // The memory of the target is not given.
    unproven: ['maxmemory'],
    filled: [0],
    source: {
      config: [
        'client-output-buffer-limit replica 1mb 512kb 10',
        'enable-debug-command yes',
        'repl-diskless-sync no',
        'rdbcompression no',
      ],
    },
    last: [['debug', 'populate', '3000', 'filler', '100000']],
    before: async (source) => keepWriting(source),
  },
  {
    name: 'BGSAVE fails, and copies go over the disk',
    verdict: 'scan',
    reasons: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync no', 'save 1 1'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      // The save point is due when more than a second has passed since the start.
      await new Promise((resolve) => setTimeout(resolve, 2100));
      return {};
    },
  },
  {
    name: 'one BGSAVE failed, nothing repeats it, and copies go over the disk',
    verdict: 'continuous',
    unproven: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync no'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      rmSync(join(source.folder, 'data', 'dump.rdb'), { recursive: true });
      return {};
    },
  },
  {
    name: 'BGSAVE fails, and copies need no disk',
    verdict: 'continuous',
    unproven: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync yes'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      return {};
    },
  },
  {
    name: 'BGSAVE fails, copies need no disk, and a copy was requested',
    verdict: 'continuous',
    options: { probe: true },
    source: { config: ['repl-diskless-sync yes'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      return {};
    },
  },
  {
    name: 'the data folder is gone, and copies go over the disk',
    verdict: 'scan',
    reasons: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync no'] },
    before: async (source) => {
      rmSync(join(source.folder, 'data'), { recursive: true });
      return {};
    },
  },
  {
    name: 'copies over the disk',
    verdict: 'continuous',
    unproven: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync no'] },
  },
  {
    name: 'little may be owed to a client',
    verdict: 'continuous',
    unproven: ['psync-command', 'renamed-commands', 'renamed-writes'],
    source: { config: ['client-output-buffer-limit normal 1kb 1kb 1'] },
  },
  { name: 'a short repl-timeout', verdict: 'continuous', source: { config: ['repl-timeout 5'] } },
  { name: 'a small backlog', verdict: 'continuous', source: { config: ['repl-backlog-size 16kb'] } },
  {
    name: 'TLS',
    verdict: 'continuous',
    unproven: ['redis-tls'],
    source: { tls: true },
    target: (source) => ({ program: 'valkey', tls: true, config: [`tls-ca-cert-file ${source.ca?.file}`] }),
  },
  {
    name: 'TLS, with an authority that the target does not trust',
    verdict: 'continuous',
    unproven: ['redis-tls'],
    source: { tls: true },
    filled: [0],
    // Its own authority alone.
    target: () => ({ program: 'valkey', tls: true }),
    differs: { truth: 'scan', why: 'which authorities the target trusts is not known; the report says so' },
  },
  {
    name: 'a certificate that has expired',
    verdict: 'scan',
    reasons: ['redis-tls'],
    source: { tls: 'expired' },
    connection: { ssl: 'require' },
    filled: [0],
    target: (source) => ({ program: 'valkey', tls: true, config: [`tls-ca-cert-file ${source.ca?.file}`] }),
  },
  {
    name: 'TLS is asked for and there is none',
    verdict: 'blocked',
    reasons: ['redis-tls'],
    connection: { ssl: 'require' },
    target: () => ({ program: 'valkey', tls: true }),
  },
  {
    name: 'TLS alone is spoken, and none is asked for',
    verdict: 'blocked',
    reasons: ['redis-tls'],
    source: { tls: true },
    connection: { ssl: 'disable' },
  },
  {
    name: 'a full source that is written to later',
    verdict: 'continuous',
    unproven: ['source-memory'],
    filled: [0],
    source: { config: ['enable-debug-command yes'] },
    before: async (source) => {
      limitMemory(source);
      const later = onceFollowed(source, () => `SET k ${'x'.repeat(10_000)}\r\n`, Number.POSITIVE_INFINITY);
      return { ...later, primaries: [source] };
    },
    differs: {
      truth: 'scan',
      why: 'whether the source is written to during the migration is not known; the report says that it must not be',
    },
  },
  ...fromFar(outside).map((one) => ({ ...one, possible: outside !== undefined })),
];

function fromFar(address = ''): readonly RedisCase[] {
  return [
    {
      name: 'protected mode',
      verdict: 'blocked',
      reasons: ['protected-mode'],
      source: { config: [`bind 127.0.0.1 ${address}`, 'protected-mode yes'] },
      connection: { host: address },
    },
    {
      name: 'bound to this machine alone',
      verdict: 'blocked',
      reasons: ['redis-connect'],
      connection: { host: address },
    },
  ];
}

/** The other half of the slots; keys go to whoever has them. */
async function secondShard(source: RedisServer): Promise<Prepared> {
  const other = await startRedis({ config: ['cluster-enabled yes'] });
  source.cli('cluster', 'addslotsrange', '0', '8191');
  other.cli('cluster', 'addslotsrange', '8192', '16383');
  source.cli('cluster', 'meet', other.host, String(other.port));
  const isWhole = (server: RedisServer) => server.cli('cluster', 'info').includes('cluster_state:ok');
  await eventually(() => isWhole(source) && isWhole(other), 'the cluster');
  for (let at = 0; at < 40; at += 1) source.cli('-c', 'set', `key:${at}`, 'x');
  return { primaries: [source, other], end: () => other.stop() };
}

async function onlyShard(source: RedisServer): Promise<Prepared> {
  source.cli('cluster', 'addslotsrange', '0', '16383');
  await eventually(() => source.cli('cluster', 'info').includes('cluster_state:ok'), 'the cluster');
  for (let at = 0; at < 40; at += 1) source.cli('set', `key:${at}`, 'x');
  return { primaries: [source] };
}

/** The shard has all slots, and its replica is the source. */
async function replicaOfShard(source: RedisServer): Promise<Prepared> {
  const shard = await startRedis({ config: ['cluster-enabled yes'] });
  await onlyShard(shard);
  const id = shard.cli('cluster', 'myid');
  source.cli('cluster', 'meet', shard.host, String(shard.port));
  await eventually(() => {
    if (source.cli('cluster', 'nodes').includes(id)) source.cli('cluster', 'replicate', id);
    return source.cli('info', 'replication').includes('master_link_status:up');
  }, 'the link');
  return { primaries: [shard], end: () => shard.stop() };
}

/** Some keys of the slot have gone to the other shard already. */
async function emptiedShard(source: RedisServer): Promise<Prepared> {
  await onlyShard(source);
  const other = await startRedis({ config: ['cluster-enabled yes'] });
  source.cli('cluster', 'meet', other.host, String(other.port));
  await eventually(() => other.cli('cluster', 'info').includes('cluster_state:ok'), 'the other shard');
  const slot = source.cli('cluster', 'keyslot', 'key:1');
  other.cli('cluster', 'setslot', slot, 'importing', source.cli('cluster', 'myid'));
  source.cli('cluster', 'setslot', slot, 'migrating', other.cli('cluster', 'myid'));
  source.cli('migrate', other.host, String(other.port), 'key:1', '0', '1000');
  return { primaries: [source, other], end: () => other.stop() };
}

/** Makes it a replica with keys, of a primary that lives on or not. */
async function follow(source: RedisServer, isLost: boolean): Promise<Prepared> {
  const primary = await startRedis({ setup: ['a', 'b', 'c'].map((key) => ['set', key, 'x']) });
  for (const key of ['d', 'e']) primary.cli('-n', '3', 'set', key, 'x');
  source.cli('replicaof', primary.host, String(primary.port));
  await eventually(() => source.cli('info', 'replication').includes('master_link_status:up'), 'the link');
  if (isLost) {
    await primary.stop();
    await eventually(() => source.cli('info', 'replication').includes('master_link_status:down'), 'the break');
  }
  return { primaries: [isLost ? source : primary], end: () => primary.stop() };
}

async function watchedBySentinel(source: RedisServer): Promise<Prepared> {
  const conf = join(source.folder, 'sentinel.conf');
  const monitor = `sentinel monitor primary ${source.host} ${source.port} 1`;
  writeFileSync(conf, `port ${await freePort()}\ndir ${source.folder}\n${monitor}\n`);
  const sentinel = spawn(redisProgram(), [conf, '--sentinel'], { stdio: 'ignore' });
  const listeners = () => source.cli('pubsub', 'numsub', '__sentinel__:hello').split('\n')[1];
  const end = async () => void sentinel.kill('SIGKILL');
  await eventually(() => listeners() === '1', 'a Sentinel').catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return { end };
}

/** The top is gone long enough to be missed, and not so long that the links below have ended. */
async function chain(source: RedisServer): Promise<Prepared> {
  const ping = (server: RedisServer) => server.cli('config', 'set', 'repl-ping-replica-period', '2');
  const middle = await startRedis();
  const { end: stop } = await follow(middle, false);
  ping(source);
  source.cli('replicaof', middle.host, String(middle.port));
  const says = (text: string) => () => source.cli('info', 'replication').includes(text);
  await eventually(says('master_link_status:up'), 'the link');
  await stop?.();
  await eventually(says('master_last_io_seconds_ago:5'), 'the silence');
  return { primaries: [source], end: () => middle.stop() };
}

function keepWriting(source: RedisServer): Prepared {
  const stop = write(source.port);
  return {
    async end() {
      stop();
    },
  };
}

/** Every slot but one is here; keys were written while it was whole. */
async function slotless(source: RedisServer): Promise<Prepared> {
  const state = (word: string) =>
    eventually(() => source.cli('cluster', 'info').includes(`cluster_state:${word}`), `a cluster that is ${word}`);
  source.cli('cluster', 'addslotsrange', '0', '16383');
  await state('ok');
  for (let at = 0; at < 20; at += 1) source.cli('set', `key:${at}`, 'x');
  source.cli('cluster', 'delslots', '5');
  await state('fail');
  return { primaries: [source] };
}

/** An application that says one thing after another for so many milliseconds: a scan needs a source that holds still. */
function say(source: RedisServer, command: (at: number) => string, lasting = Number.POSITIVE_INFINITY): Prepared {
  const socket = connect(source.port, source.host);
  const end = Date.now() + lasting;
  let at = 0;
  socket.on('data', () => {}).on('error', () => {});
  const timer = setInterval(() => {
    at += 1;
    if (Date.now() < end) socket.write(command(at));
  }, 20);
  return {
    async end() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}

/** The application says nothing until the target has connected. */
export function onceFollowed(source: RedisServer, command: (at: number) => string, lasting = 3000): Prepared {
  const watcher = connect(source.port, source.host);
  let begun: Prepared | undefined;
  const timer = setInterval(() => watcher.write('INFO replication\r\n'), 30);
  watcher
    .on('error', () => {})
    .on('data', (reply) => {
      if (begun !== undefined || !/slave0:/.test(reply.toString())) return;
      clearInterval(timer);
      begun = say(source, command, lasting);
    });
  return {
    async end() {
      clearInterval(timer);
      watcher.destroy();
      await begun?.end?.();
    },
  };
}

/** Clients that are connected and say nothing. */
async function idle(source: RedisServer, count: number): Promise<Prepared> {
  const clients = Array.from({ length: count }, () => connect(source.port, source.host).on('error', () => {}));
  await eventually(() => source.cli('info', 'clients').includes(`connected_clients:${count + 1}`), 'the clients');
  return {
    async end() {
      for (const client of clients) client.destroy();
    },
  };
}

/** Less is left of maxmemory than the backlog of a first replica takes, and one key is written over and over. */
function nearlyFull(source: RedisServer): Prepared {
  limitMemory(source);
  return { ...say(source, () => `SET k ${'x'.repeat(10_000)}\r\n`), primaries: [source] };
}

function limitMemory(source: RedisServer): void {
  source.cli('debug', 'populate', '2000', 'filler', '10000');
  const used = /^used_memory:(\d+)/m.exec(source.cli('info', 'memory'))?.[1];
  source.cli('config', 'set', 'maxmemory', String(Number(used) + 600_000));
}
