import type { Recorded } from './recorded.ts';

// Redis 7.0 and Valkey 8.0 are asked for real (run.test.ts). What stands here was written from the documented formats of
// INFO, CONFIG, COMMAND and ACL of each version: https://redis.io/docs/latest/commands/info/, https://valkey.io/commands/info/.

const common = {
  redis_mode: 'standalone',
  role: 'master',
  loading: '0',
  connected_clients: '3',
  used_memory: '104857600',
  rdb_bgsave_in_progress: '0',
  rdb_last_bgsave_status: 'ok',
  connected_slaves: '0',
  master_repl_offset: '0',
  repl_backlog_active: '0',
  repl_backlog_size: '1048576',
  evicted_keys: '0',
  expired_keys: '4',
  pubsub_channels: '0',
  pubsub_patterns: '0',
  latest_fork_usec: '812',
  config_file: '/etc/redis/redis.conf',
  db0: 'keys=42,expires=4,avg_ttl=1000',
};

const settings = {
  databases: '16',
  'client-output-buffer-limit': 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
  'repl-timeout': '60',
  'repl-backlog-size': '1048576',
  'repl-diskless-sync': 'no',
  'repl-diskless-sync-delay': '5',
  'repl-ping-slave-period': '10',
  'min-slaves-to-write': '0',
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
  maxclients: '10000',
  'notify-keyspace-events': '',
  dir: '/var/lib/redis',
};

const renamed = {
  'repl-ping-replica-period': '10',
  'min-replicas-to-write': '0',
};

const later = {
  ...common,
  cluster_enabled: '0',
  maxmemory: '0',
  maxmemory_policy: 'noeviction',
  used_memory_rss: '120000000',
  used_memory_dataset: '100000000',
  total_system_memory: '16000000000',
};

const withTls = {
  ...settings,
  ...renamed,
  'protected-mode': 'yes',
  bind: '*',
  'tls-port': '0',
  'tls-replication': 'no',
  aclfile: '',
};

/** Every kind of server, each healthy of its kind. */
export const recordings = {
  'redis 2.8': {
    info: { ...common, redis_version: '2.8.24' },
    config: settings,
    lacks: ['acl', 'acl dryrun', 'cluster', 'module', 'function', 'memory'],
  },
  'redis 4.0': {
    info: { ...later, redis_version: '4.0.14' },
    config: { ...settings, 'protected-mode': 'yes', bind: '0.0.0.0', 'proto-max-bulk-len': '536870912' },
    lacks: ['acl', 'acl dryrun', 'function'],
  },
  'redis 5.0': {
    info: { ...later, redis_version: '5.0.14' },
    config: { ...settings, ...renamed, 'protected-mode': 'yes', bind: '0.0.0.0' },
    lacks: ['acl', 'acl dryrun', 'function'],
  },
  'redis 6.0': {
    info: { ...later, redis_version: '6.0.20' },
    config: withTls,
    lacks: ['acl dryrun', 'function'],
  },
  'redis 6.2': {
    info: { ...later, redis_version: '6.2.19', maxclients: '10000' },
    config: withTls,
    lacks: ['acl dryrun', 'function'],
  },
  'redis 7.2': {
    info: { ...later, redis_version: '7.2.11', maxclients: '10000', async_loading: '0' },
    config: { ...withTls, 'repl-diskless-sync': 'yes' },
    functions: 0,
  },
  'redis 7.4': {
    info: { ...later, redis_version: '7.4.6', maxclients: '10000', db0: 'keys=42,expires=4,avg_ttl=1000,subexpiry=2' },
    config: { ...withTls, 'repl-diskless-sync': 'yes' },
    functions: 0,
  },
  'redis 8.0': {
    info: { ...later, redis_version: '8.0.4', maxclients: '10000', db0: 'keys=42,expires=4,avg_ttl=1000,subexpiry=0' },
    config: { ...withTls, 'repl-diskless-sync': 'yes' },
    functions: 0,
    modules: ['vectorset'],
  },
  'valkey 7.2': {
    info: { ...later, redis_version: '7.2.4', server_name: 'valkey', valkey_version: '7.2.10', maxclients: '10000' },
    config: { ...withTls, 'repl-diskless-sync': 'yes' },
    functions: 0,
  },
  'valkey 8.1': {
    info: { ...later, redis_version: '7.2.4', server_name: 'valkey', valkey_version: '8.1.4', maxclients: '10000' },
    config: { ...withTls, 'repl-diskless-sync': 'yes', 'repl-backlog-size': '10485760' },
    functions: 0,
  },
  'valkey 9.0': {
    info: { ...later, redis_version: '7.2.4', server_name: 'valkey', valkey_version: '9.0.0', maxclients: '10000' },
    config: { ...withTls, 'repl-diskless-sync': 'yes', 'repl-backlog-size': '10485760' },
    functions: 0,
  },
  keydb: {
    info: {
      ...later,
      redis_version: '6.3.4',
      executable: '/usr/bin/keydb-server',
      mvcc_depth: '0',
      maxclients: '10000',
    },
    config: withTls,
    lacks: ['acl dryrun', 'function'],
  },
  dragonfly: {
    info: { ...later, redis_version: '7.4.0', dragonfly_version: 'df-v1.34.2', maxclients: '64000' },
    config: { maxmemory: '8589934592', dir: '', databases: '16' },
    lacks: ['acl dryrun', 'psync', 'sync', 'function', 'module'],
  },
  elasticache: {
    info: { ...later, redis_version: '7.1.0', os: 'Amazon ElastiCache', maxclients: '65000' },
    config: 'hidden',
    lacks: ['config', 'psync', 'sync', 'replconf', 'module'],
    functions: 0,
  },
  azure: {
    info: { ...later, redis_version: '6.0.14' },
    config: 'hidden',
    lacks: ['config', 'psync', 'sync', 'acl', 'acl dryrun', 'module', 'function', 'cluster'],
  },
  upstash: {
    info: { redis_version: '6.2.6', upstash_version: '1.14.0', role: 'master', db0: 'keys=1,expires=0' },
    config: 'hidden',
    lacks: ['config', 'psync', 'sync', 'replconf', 'module', 'function', 'cluster', 'latency'],
  },
  memorystore: {
    info: { ...later, redis_version: '7.0.15', maxclients: '65000' },
    config: 'hidden',
    lacks: ['config', 'acl', 'acl dryrun'],
    functions: 0,
  },
  'redis cloud': {
    info: { ...later, redis_version: '7.4.0', redis_build_id: '0', maxclients: '10000' },
    config: { maxmemory: '0' },
    lacks: ['psync', 'sync', 'replconf', 'acl dryrun', 'latency'],
    modules: ['search', 'ReJSON'],
    functions: 0,
  },
} satisfies Readonly<Record<string, Recorded>>;

export type RecordedName = keyof typeof recordings;

/** A healthy Redis 7.2 with some things changed. */
export function healthy(
  changes: {
    readonly info?: Readonly<Record<string, string>>;
    readonly config?: Readonly<Record<string, string>>;
    readonly more?: Partial<Recorded>;
  } = {},
): Recorded {
  const base = recordings['redis 7.2'];
  return {
    ...base,
    ...changes.more,
    info: { ...base.info, ...changes.info },
    config: { ...base.config, ...changes.config },
  };
}
