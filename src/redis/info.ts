/**
 * The fields of the default sections of INFO that are read (https://redis.io/docs/latest/commands/info/). A field of
 * another section, such as commandstats, does not compile.
 */
export type InfoField =
  // Server
  | 'redis_version'
  | 'valkey_version'
  | 'dragonfly_version'
  | 'garnet_version'
  | 'kvrocks_version'
  | 'upstash_version'
  | 'server_name'
  | 'redis_mode'
  | 'os'
  | 'run_id'
  | 'executable'
  | 'config_file'
  | 'server_time_usec'
  // Clients
  | 'connected_clients'
  | 'maxclients'
  | 'cluster_connections'
  | 'pubsub_channels'
  | 'pubsub_patterns'
  // Memory
  | 'used_memory'
  | 'used_memory_rss'
  | 'used_memory_dataset'
  | 'number_of_cached_scripts'
  | 'number_of_functions'
  | 'mem_clients_slaves'
  | 'total_system_memory'
  | 'maxmemory'
  | 'maxmemory_policy'
  | 'mem_not_counted_for_evict'
  | 'mvcc_depth'
  // Persistence
  | 'loading'
  | 'async_loading'
  | 'loading_loaded_perc'
  | 'loading_eta_seconds'
  | 'current_save_keys_processed'
  | 'current_save_keys_total'
  | 'rdb_bgsave_in_progress'
  | 'rdb_changes_since_last_save'
  | 'rdb_last_save_time'
  | 'rdb_last_bgsave_status'
  | 'aof_last_write_status'
  | 'rdb_last_bgsave_time_sec'
  // Stats
  | 'acl_access_denied_auth'
  | 'evicted_keys'
  | 'expired_keys'
  | 'latest_fork_usec'
  | 'sync_full'
  | 'client_output_buffer_limit_disconnections'
  | 'total_commands_processed'
  | 'total_net_input_bytes'
  | 'total_net_repl_output_bytes'
  // Replication
  | 'role'
  | 'connected_slaves'
  | 'master_host'
  | 'master_port'
  | 'master_link_status'
  | 'master_link_down_since_seconds'
  | 'master_last_io_seconds_ago'
  | 'master_sync_in_progress'
  | 'master_sync_read_bytes'
  | 'master_repl_offset'
  | 'master_replid'
  | 'master_replid2'
  | 'min_slaves_good_slaves'
  | 'repl_backlog_active'
  | 'repl_backlog_histlen'
  | 'repl_backlog_size'
  | 'slave_read_only'
  | 'slave_repl_offset'
  // Cluster
  | 'cluster_enabled';

/**
 * Parses the reply to commands such as INFO and CLUSTER INFO into fields. A field that the server does not report is
 * absent from the result.
 */
export interface InfoFields<Field extends string> extends Iterable<readonly [name: string, value: string]> {
  get(field: Field): string | undefined;
  has(field: Field): boolean;
}

export type RedisInfo = InfoFields<InfoField>;

/** The value for a server whose INFO could not be read: no fields. */
export const emptyInfo: RedisInfo = new Map<string, string>();

/** Parses lines of `name:value`; lines that begin with # are section headings. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return line.startsWith('#') || colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

/** A field of INFO as a number; undefined if it is absent or not a number. */
export function infoNumber<Field extends string>(info: InfoFields<Field>, field: NoInfer<Field>): number | undefined {
  const text = info.get(field);
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}

/** Parses the parts of an INFO value such as `keys=1,expires=0,avg_ttl=0`. */
export function parseValueParts(value: string): ReadonlyMap<string, string> {
  return new Map(
    value.split(',').flatMap((part): [string, string][] => {
      const at = part.indexOf('=');
      return at < 0 ? [] : [[part.slice(0, at), part.slice(at + 1)]];
    }),
  );
}

/** The numbers of keys in one Redis database, from INFO. */
export interface KeyspaceEntry {
  readonly index: number;
  readonly keys: number;
  readonly expires: number;
  /** Number of hashes with fields that expire (Redis 7.4 and later, Valkey 9 and later). */
  readonly subexpiry: number;
}

/** The databases with keys, in the order of their numbers. */
export function parseKeyspace(info: RedisInfo): readonly KeyspaceEntry[] {
  return [...info]
    .flatMap(([name, value]) => {
      const index = /^db(\d+)$/.exec(name)?.[1];
      if (index === undefined) return [];
      const fields = parseValueParts(value);
      const count = (field: string) => Number(fields.get(field) ?? 0);
      return [
        {
          index: Number(index),
          keys: count('keys'),
          expires: count('expires'),
          subexpiry: count('subexpiry') + count('keys_with_volatile_items'),
        },
      ];
    })
    .sort((a, b) => a.index - b.index);
}
