import { networkInterfaces } from 'node:os';
import { Secret } from '../../../src/secret.ts';
import { eventually, type RedisServer, startRedis } from '../../fixtures/redis.ts';
import { breakSaving, write } from '../../preflight/redis/real.ts';
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
    because: ['version-not-newer'],
    source: { program: 'valkey' },
    target: toRedis,
  },
  {
    name: 'a password',
    verdict: 'continuous',
    source: { config: ['requirepass "correct horse"'] },
    password: 'correct horse',
    door: { password: new Secret('correct horse') },
  },
  {
    name: 'a wrong password',
    verdict: 'blocked',
    because: ['auth'],
    quick: true,
    source: { config: ['requirepass right'] },
    password: 'right',
    door: { password: new Secret('wrong') },
  },
  {
    name: 'no password where one is wanted',
    verdict: 'blocked',
    because: ['auth'],
    source: { config: ['requirepass right'] },
    password: 'right',
  },
  {
    name: 'a password where none is wanted',
    verdict: 'blocked',
    because: ['auth'],
    door: { password: new Secret('needless') },
  },
  {
    name: 'a user without PSYNC',
    verdict: 'scan',
    because: ['acl-psync'],
    quick: true,
    source: { acl: [admin, 'user mover on >pw ~* &* +@all -psync -sync -replconf'] },
    door: mover,
  },
  {
    name: 'a user who may replicate and ask nothing else',
    verdict: 'continuous',
    source: { acl: [admin, 'user mover on >pw ~* +psync +replconf +ping +info'] },
    door: mover,
  },
  {
    name: 'PSYNC and SYNC renamed',
    verdict: 'scan',
    because: ['psync-command'],
    quick: true,
    source: { config: ['rename-command PSYNC ""', 'rename-command SYNC ""'] },
  },
  {
    name: 'PSYNC alone renamed, and copies go over the disk',
    verdict: 'continuous',
    source: { config: ['rename-command PSYNC ""', 'repl-diskless-sync no'] },
  },
  { name: 'REPLCONF renamed', verdict: 'continuous', source: { config: ['rename-command REPLCONF ""'] } },
  { name: 'CONFIG renamed', verdict: 'continuous', source: { config: ['rename-command CONFIG ""'] } },
  {
    name: 'a cluster of two shards',
    verdict: 'scan',
    because: ['cluster-source'],
    source: { config: ['cluster-enabled yes'] },
    filled: [0],
    before: secondShard,
  },
  {
    name: 'a key in database 20',
    verdict: 'blocked',
    because: ['databases-count'],
    quick: true,
    source: { config: ['databases 32'] },
    filled: [0, 20],
  },
  {
    name: 'more databases than the target, which are empty',
    verdict: 'continuous',
    source: { config: ['databases 32'] },
  },
  { name: 'a replica with its primary', verdict: 'continuous', before: (source) => follow(source, false) },
  {
    name: 'a replica that has lost its primary',
    verdict: 'scan',
    because: ['role-replica'],
    before: (source) => follow(source, true),
  },
  {
    name: 'a replica that has lost its primary and answers nobody',
    verdict: 'blocked',
    because: ['role-replica'],
    source: { config: ['replica-serve-stale-data no'] },
    before: (source) => follow(source, true),
  },
  {
    name: 'more data than the target has memory',
    verdict: 'blocked',
    because: ['maxmemory'],
    last: [['debug', 'populate', '2000', 'filler', '10000']],
    source: { config: ['enable-debug-command yes'] },
    target: () => ({ program: 'valkey', config: ['maxmemory 8mb', 'maxmemory-policy noeviction'] }),
    wish: { targetMemory: 8 * 1024 ** 2 },
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
    because: ['replica-output-buffer'],
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
    because: ['bgsave-broken'],
    source: { config: ['repl-diskless-sync no'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      return {};
    },
  },
  {
    name: 'BGSAVE fails, and copies need no disk',
    verdict: 'continuous',
    source: { config: ['repl-diskless-sync yes'] },
    before: async (source) => {
      source.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no');
      await breakSaving(source);
      return {};
    },
  },
  { name: 'copies over the disk', verdict: 'continuous', source: { config: ['repl-diskless-sync no'] } },
  { name: 'a short repl-timeout', verdict: 'continuous', source: { config: ['repl-timeout 5'] } },
  { name: 'a small backlog', verdict: 'continuous', source: { config: ['repl-backlog-size 16kb'] } },
  {
    name: 'TLS',
    verdict: 'continuous',
    source: { tls: true },
    target: (source) => ({ program: 'valkey', tls: true, config: [`tls-ca-cert-file ${source.ca?.file}`] }),
  },
  {
    name: 'TLS is asked for and there is none',
    verdict: 'blocked',
    because: ['redis-tls'],
    door: { ssl: 'require' },
    target: () => ({ program: 'valkey', tls: true }),
  },
  {
    name: 'TLS alone is spoken, and none is asked for',
    verdict: 'blocked',
    because: ['redis-tls'],
    source: { tls: true },
    door: { ssl: 'disable' },
  },
  ...(outside === undefined ? [] : fromFar(outside)),
];

function fromFar(address: string): readonly RedisCase[] {
  return [
    {
      name: 'protected mode',
      verdict: 'blocked',
      because: ['protected-mode'],
      source: { config: [`bind 127.0.0.1 ${address}`, 'protected-mode yes'] },
      door: { host: address },
    },
    {
      name: 'bound to this machine alone',
      verdict: 'blocked',
      because: ['redis-connect'],
      door: { host: address },
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

function keepWriting(source: RedisServer): Prepared {
  const stop = write(source.port);
  return {
    async end() {
      stop();
    },
  };
}
