import { infoNumber, type KeyspaceEntry, parseKeyspace, parseValueParts, type RedisInfo } from '../../../redis/info.ts';
import type { ConnectionProbe } from '../probe.ts';

/** The facts that one poll reads from the Redis server. */
export interface RedisFacts {
  /** Time of the poll in milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  readonly runId: string;
  readonly isPrimary: boolean;
  /** `HOST:PORT` of the primary that the source replicates from; undefined for a primary. */
  readonly primary: string | undefined;
  /** The replication id, and the one before it, which a failover keeps. */
  readonly replicationId: string;
  readonly formerReplicationId: string;
  /** How much of the data set is loaded, and how long the rest takes; undefined: nothing is being loaded. */
  readonly loading: { readonly percent: number | undefined; readonly seconds: number | undefined } | undefined;
  /** Offset of the replication stream in bytes. */
  readonly offset: number;
  readonly replicas: readonly ConnectedReplica[];
  /**
   * Number of keys that the running snapshot has written, and their total (Redis 7.0 and later); undefined if no
   * snapshot is running, or if the version does not report them.
   */
  readonly snapshot: { readonly done: number; readonly total: number } | undefined;
  readonly fullSyncs: number;
  /** Clients, replicas among them, whose output buffer was too large; undefined: the version does not count them. */
  readonly bufferLimitDisconnections: number | undefined;
  /** Bytes in the output buffers of replicas. */
  readonly replicaBuffers: number;
  /** Whether the last snapshot could not be written. */
  readonly isSnapshotFailing: boolean;
  /** Bytes of the data set in memory, and total bytes sent to replicas (Redis 7.0 and later). */
  readonly dataset: number;
  readonly sent: number | undefined;
  /** Bytes that count towards maxmemory, and some buffers. */
  readonly memory: number;
  readonly keyspace: readonly KeyspaceEntry[];
  readonly evicted: number;
  /** Total number of refused logins (Redis 7.0 and later). */
  readonly deniedLogins: number | undefined;
  /** Settings of the server, as far as the user may read them. */
  readonly config: ReadonlyMap<string, string>;
  readonly connection: ConnectionProbe | undefined;
}

export interface ConnectedReplica {
  /** The address of the replica as `ADDRESS:PORT`, as the replica announces it. */
  readonly name: string;
  /**
   * `wait_bgsave`, `send_bulk`, `online`; `unacknowledged`: the copy was sent, and nothing shows that the replica has loaded
   * it, which the server calls online too.
   */
  readonly state: string;
  readonly offset: number;
  /** Seconds since the last acknowledgement of the replica. */
  readonly lag: number;
}

export interface RedisOutage {
  readonly at: number;
  readonly code: string;
  readonly reason: string;
}

export type RedisPoll =
  | { readonly kind: 'seen'; readonly facts: RedisFacts }
  | { readonly kind: 'outage'; readonly outage: RedisOutage };

export function parseRedisFacts(
  info: RedisInfo,
  more: Pick<RedisFacts, 'at' | 'connection'> & { readonly config: ReadonlyMap<string, string> },
): RedisFacts {
  const [done, total] = [infoNumber(info, 'current_save_keys_processed'), infoNumber(info, 'current_save_keys_total')];
  const saving = info.get('rdb_bgsave_in_progress') === '1' && done !== undefined && total !== undefined;
  const limits = (['maxmemory', 'maxmemory_policy'] as const).flatMap((name): [string, string][] => {
    const value = info.get(name);
    return value === undefined ? [] : [[name.replace('_', '-'), value]];
  });
  return {
    at: more.at,
    runId: info.get('run_id') ?? '',
    isPrimary: info.get('role') !== 'slave',
    primary:
      info.get('role') === 'slave'
        ? formatAddress(info.get('master_host') ?? '', info.get('master_port') ?? '')
        : undefined,
    replicationId: info.get('master_replid') ?? '',
    formerReplicationId: info.get('master_replid2') ?? '',
    loading:
      info.get('loading') === '1' || info.get('async_loading') === '1'
        ? {
            percent: infoNumber(info, 'loading_loaded_perc'),
            seconds: infoNumber(info, 'loading_eta_seconds'),
          }
        : undefined,
    offset: infoNumber(info, 'master_repl_offset') ?? 0,
    replicas: parseReplicas(info),
    snapshot: saving ? { done, total } : undefined,
    fullSyncs: infoNumber(info, 'sync_full') ?? 0,
    bufferLimitDisconnections: infoNumber(info, 'client_output_buffer_limit_disconnections'),
    replicaBuffers: infoNumber(info, 'mem_clients_slaves') ?? 0,
    isSnapshotFailing: info.get('rdb_last_bgsave_status') === 'err',
    dataset: infoNumber(info, 'used_memory_dataset') ?? infoNumber(info, 'used_memory') ?? 0,
    sent: infoNumber(info, 'total_net_repl_output_bytes'),
    memory: (infoNumber(info, 'used_memory') ?? 0) - (infoNumber(info, 'mem_not_counted_for_evict') ?? 0),
    keyspace: parseKeyspace(info),
    evicted: infoNumber(info, 'evicted_keys') ?? 0,
    deniedLogins: infoNumber(info, 'acl_access_denied_auth'),
    config: new Map([...limits, ...more.config]),
    connection: more.connection,
  };
}

/** `slave0:ip=10.0.0.5,port=6379,state=online,offset=14,lag=1`. */
function parseReplicas(info: RedisInfo): readonly ConnectedReplica[] {
  return [...info].flatMap(([name, value]) => {
    if (!/^slave\d+$/.test(name)) return [];
    const fields = parseValueParts(value);
    const number = (field: string) => Number(fields.get(field) ?? 0) || 0;
    const ip = fields.get('ip') ?? '';
    return [
      {
        name: formatAddress(ip, fields.get('port') ?? ''),
        state:
          fields.get('state') === 'online' && number('offset') === 0 ? 'unacknowledged' : (fields.get('state') ?? ''),
        offset: number('offset'),
        lag: number('lag'),
      },
    ];
  });
}

function formatAddress(host: string, port: string): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
