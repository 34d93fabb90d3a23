import type { Ask } from '../ask.ts';
import { pairsOf } from './reply.ts';

/** Settings by name, as the server spells them. Never asked with `*` alone, or for one that holds a secret. */
export type Config = ReadonlyMap<string, string>;

/** `pattern` as CONFIG GET takes it: the old and the new names of 5.0 stand under one. */
function config(pattern: string): Ask<Config> {
  return {
    id: `CONFIG GET ${pattern}`,
    words: () => ['CONFIG', 'GET', pattern],
    decode: pairsOf,
    permission: '+config|get',
  };
}

export const databases = config('databases');
export const protectedMode = config('protected-mode');
export const bind = config('bind');
export const replication = config('repl-*');
export const minReplicas = config('min-*-to-write');
export const bufferLimits = config('client-output-buffer-limit');
export const memory = config('maxmemory*');
export const maxClients = config('maxclients');
export const tlsPort = config('tls-port');
export const tlsReplication = config('tls-replication');
export const notifications = config('notify-keyspace-events');
export const bulkLength = config('proto-max-bulk-len');
export const dataFolder = config('dir');
export const aclFile = config('aclfile');
export const readsWhenDown = config('cluster-allow-reads-when-down');
