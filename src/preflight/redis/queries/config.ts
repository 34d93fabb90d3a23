import type { RedisQuery } from '../query.ts';
import { replyPairs } from './reply.ts';

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
function configQuery<Setting extends string>(pattern: string): RedisQuery<RedisConfigValues<Setting>> {
  return {
    id: `CONFIG GET ${pattern}`,
    command: () => ['CONFIG', 'GET', pattern],
    decode: replyPairs,
    permission: '+config|get',
  };
}

export type ReplicationSetting =
  | 'repl-backlog-size'
  | 'repl-diskless-sync'
  | 'repl-diskless-sync-delay'
  | 'repl-ping-replica-period'
  | 'repl-ping-slave-period'
  | 'repl-timeout';

export const databasesConfigQuery = configQuery<'databases'>('databases');
export const protectedModeConfigQuery = configQuery<'protected-mode'>('protected-mode');
export const bindConfigQuery = configQuery<'bind'>('bind');
export const replicationConfigQuery = configQuery<ReplicationSetting>('repl-*');
export const minReplicasConfigQuery = configQuery<'min-replicas-to-write' | 'min-slaves-to-write'>('min-*-to-write');
export const outputBufferConfigQuery = configQuery<'client-output-buffer-limit'>('client-output-buffer-limit');
export const maxmemoryConfigQuery = configQuery<'maxmemory' | 'maxmemory-policy'>('maxmemory*');
export const maxclientsConfigQuery = configQuery<'maxclients'>('maxclients');
export const tlsPortConfigQuery = configQuery<'tls-port'>('tls-port');
export const tlsReplicationConfigQuery = configQuery<'tls-replication'>('tls-replication');
export const keyspaceEventsConfigQuery = configQuery<'notify-keyspace-events'>('notify-keyspace-events');
export const bulkLengthConfigQuery = configQuery<'proto-max-bulk-len'>('proto-max-bulk-len');
export const dirConfigQuery = configQuery<'dir'>('dir');
export const aclfileConfigQuery = configQuery<'aclfile'>('aclfile');
export const scriptReplicationConfigQuery = configQuery<'lua-replicate-commands'>('lua-replicate-commands');
export const clusterReadsConfigQuery = configQuery<'cluster-allow-reads-when-down'>('cluster-allow-reads-when-down');

/** All queries with CONFIG GET, used to find those that return a setting. */
export const configQueries: readonly RedisQuery<RedisConfigValues<string>>[] = [
  databasesConfigQuery,
  protectedModeConfigQuery,
  bindConfigQuery,
  replicationConfigQuery,
  minReplicasConfigQuery,
  outputBufferConfigQuery,
  maxmemoryConfigQuery,
  maxclientsConfigQuery,
  tlsPortConfigQuery,
  tlsReplicationConfigQuery,
  keyspaceEventsConfigQuery,
  bulkLengthConfigQuery,
  dirConfigQuery,
  aclfileConfigQuery,
  scriptReplicationConfigQuery,
  clusterReadsConfigQuery,
];
