import { infoNumber, type KeyspaceEntry, parseInfoFields, parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { ConnectionProbe } from '../connection-probe.ts';

/** What one poll reads from the server. */
export interface RedisFacts {
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly at: number;
  readonly runId: string;
  readonly isPrimary: boolean;
  /** Changes with a failover. */
  readonly replicationId: string;
  /** Offset of the replication stream in bytes. */
  readonly offset: number;
  readonly replicas: readonly ConnectedReplica[];
  /**
   * Keys that the running snapshot has written, and their total (7.0 and later); undefined: no snapshot is running, or the
   * version does not report it.
   */
  readonly snapshot: { readonly done: number; readonly total: number } | undefined;
  readonly fullSyncs: number;
  /** Bytes of the dataset in memory, and bytes sent to replicas in total (7.0 and later). */
  readonly dataset: number;
  readonly sent: number | undefined;
  readonly keyspace: readonly KeyspaceEntry[];
  readonly evicted: number;
  /** Refused logins in total (7.0 and later). */
  readonly deniedLogins: number | undefined;
  /** Settings of the server, as far as the user may read them. */
  readonly config: ReadonlyMap<string, string>;
  readonly connection: ConnectionProbe | undefined;
}

export interface ConnectedReplica {
  /** `ADDRESS:PORT`, as the replica announces it. */
  readonly name: string;
  /** `wait_bgsave`, `send_bulk`, `online`. */
  readonly state: string;
  readonly offset: number;
  /** Seconds since its last acknowledgement. */
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
    replicationId: info.get('master_replid') ?? '',
    offset: infoNumber(info, 'master_repl_offset') ?? 0,
    replicas: parseReplicas(info),
    snapshot: saving ? { done, total } : undefined,
    fullSyncs: infoNumber(info, 'sync_full') ?? 0,
    dataset: infoNumber(info, 'used_memory_dataset') ?? infoNumber(info, 'used_memory') ?? 0,
    sent: infoNumber(info, 'total_net_repl_output_bytes'),
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
    const fields = parseInfoFields(value);
    const number = (field: string) => Number(fields.get(field) ?? 0) || 0;
    const ip = fields.get('ip') ?? '';
    return [
      {
        name: `${ip.includes(':') ? `[${ip}]` : ip}:${fields.get('port') ?? ''}`,
        state: fields.get('state') ?? '',
        offset: number('offset'),
        lag: number('lag'),
      },
    ];
  });
}
