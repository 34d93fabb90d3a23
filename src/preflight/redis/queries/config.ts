import type { RedisQuery } from '../query.ts';
import { replyPairs } from './reply.ts';

/** Settings by name, as the server spells them. Never asked with `*` alone, or for one that holds a secret. */
export type RedisConfigValues = ReadonlyMap<string, string>;

/** `pattern` as CONFIG GET takes it: the old and the new names of 5.0 stand under one. */
function configQuery(pattern: string): RedisQuery<RedisConfigValues> {
  return {
    id: `CONFIG GET ${pattern}`,
    command: () => ['CONFIG', 'GET', pattern],
    decode: replyPairs,
    permission: '+config|get',
  };
}

export const databasesConfigQuery = configQuery('databases');
export const protectedModeConfigQuery = configQuery('protected-mode');
export const bindConfigQuery = configQuery('bind');
export const replicationConfigQuery = configQuery('repl-*');
export const minReplicasConfigQuery = configQuery('min-*-to-write');
export const outputBufferConfigQuery = configQuery('client-output-buffer-limit');
export const maxmemoryConfigQuery = configQuery('maxmemory*');
export const maxclientsConfigQuery = configQuery('maxclients');
export const tlsPortConfigQuery = configQuery('tls-port');
export const tlsReplicationConfigQuery = configQuery('tls-replication');
export const keyspaceEventsConfigQuery = configQuery('notify-keyspace-events');
export const bulkLengthConfigQuery = configQuery('proto-max-bulk-len');
export const dirConfigQuery = configQuery('dir');
export const aclfileConfigQuery = configQuery('aclfile');
export const clusterReadsConfigQuery = configQuery('cluster-allow-reads-when-down');
