import { type RedisInfo, readRedisInfoNumber } from '../../../../redis/info.ts';
import type { RedisPreflightQuery } from '../query.ts';
import { parseRedisReplyPairs } from './reply.ts';

/**
 * The values in the reply to CONFIG GET, by setting. Only the settings that the query names can be read; a setting that
 * the server does not have is absent.
 */
export interface RedisConfigValues<Setting extends string> extends Iterable<readonly [name: string, value: string]> {
  get(setting: Setting): string | undefined;
  has(setting: Setting): boolean;
  readonly size: number;
}

/**
 * One CONFIG GET. CONFIG GET is never sent with `*` alone, and never for a setting that contains a secret.
 * @param pattern a pattern for CONFIG GET, which can match the names from before and after Redis 5.0 in one command
 */
function configQuery<Setting extends string>(pattern: string): RedisPreflightQuery<RedisConfigValues<Setting>> {
  return {
    id: `CONFIG GET ${pattern}`,
    command: () => ['CONFIG', 'GET', pattern],
    decode: parseRedisReplyPairs,
    permission: '+config|get',
  };
}

export type RedisReplicationSetting =
  | 'repl-backlog-size'
  | 'repl-diskless-sync'
  | 'repl-diskless-sync-delay'
  | 'repl-ping-replica-period'
  | 'repl-ping-slave-period'
  | 'repl-timeout';

export const redisDatabasesConfigQuery = configQuery<'databases'>('databases');
export const redisProtectedModeConfigQuery = configQuery<'protected-mode'>('protected-mode');
export const redisBindConfigQuery = configQuery<'bind'>('bind');
export const redisReplicationConfigQuery = configQuery<RedisReplicationSetting>('repl-*');
export const redisMinReplicasConfigQuery = configQuery<'min-replicas-to-write' | 'min-slaves-to-write'>(
  'min-*-to-write',
);
export const redisOutputBufferConfigQuery = configQuery<'client-output-buffer-limit'>('client-output-buffer-limit');
export const redisMaxmemoryConfigQuery = configQuery<'maxmemory' | 'maxmemory-policy'>('maxmemory*');

/** The limit of the memory in bytes (0: none), and what the server does at the limit; from INFO, else from CONFIG GET. */
export function readRedisMaxmemory(
  info: RedisInfo,
  config: RedisConfigValues<'maxmemory' | 'maxmemory-policy'> | undefined,
): { readonly limit: number; readonly policy: string } {
  return {
    limit: readRedisInfoNumber(info, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0),
    policy: info.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction',
  };
}

export const redisMaxclientsConfigQuery = configQuery<'maxclients'>('maxclients');
export const redisTlsPortConfigQuery = configQuery<'tls-port'>('tls-port');
export const redisTlsReplicationConfigQuery = configQuery<'tls-replication'>('tls-replication');
export const redisKeyspaceEventsConfigQuery = configQuery<'notify-keyspace-events'>('notify-keyspace-events');
export const redisBulkLengthConfigQuery = configQuery<'proto-max-bulk-len'>('proto-max-bulk-len');
export const redisDirConfigQuery = configQuery<'dir'>('dir');
export const redisAclfileConfigQuery = configQuery<'aclfile'>('aclfile');
export const redisLuaReplicateCommandsConfigQuery = configQuery<'lua-replicate-commands'>('lua-replicate-commands');
export const redisClusterAllowReadsWhenDownConfigQuery = configQuery<'cluster-allow-reads-when-down'>(
  'cluster-allow-reads-when-down',
);

/** All queries with CONFIG GET, used to find those that return a setting. */
export const redisConfigQueries: readonly RedisPreflightQuery<RedisConfigValues<string>>[] = [
  redisDatabasesConfigQuery,
  redisProtectedModeConfigQuery,
  redisBindConfigQuery,
  redisReplicationConfigQuery,
  redisMinReplicasConfigQuery,
  redisOutputBufferConfigQuery,
  redisMaxmemoryConfigQuery,
  redisMaxclientsConfigQuery,
  redisTlsPortConfigQuery,
  redisTlsReplicationConfigQuery,
  redisKeyspaceEventsConfigQuery,
  redisBulkLengthConfigQuery,
  redisDirConfigQuery,
  redisAclfileConfigQuery,
  redisLuaReplicateCommandsConfigQuery,
  redisClusterAllowReadsWhenDownConfigQuery,
];
