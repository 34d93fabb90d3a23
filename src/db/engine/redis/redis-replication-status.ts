import { parseKeyspace, type RedisInfo, readRedisInfoNumber } from '../../../redis/info.ts';
import type { TableMigrationProgress } from '../engine-migration-state.ts';

/** The replication state of a Redis target, from the replies of both servers to INFO. */
export interface RedisReplicationStatus {
  readonly isUp: boolean;
  /**
   * Whether a full synchronization is running. False while the source refuses the target, which then only requests a
   * full synchronization every second.
   */
  readonly isCopying: boolean;
  readonly lagBytes: number;
  /** Offsets in the replication stream of the source, in bytes: written by the source, processed by the target. */
  readonly sourceOffset: number;
  readonly targetOffset: number;
  /**
   * A value that changes with every write of a client. The replication offsets also advance without writes, because of
   * pings.
   */
  readonly writeMarker: string;
  readonly databases: readonly RedisDatabaseProgress[];
}

export interface RedisDatabaseProgress {
  readonly name: string;
  readonly keys: TableMigrationProgress;
}

export function buildRedisReplicationStatus(source: RedisInfo, target: RedisInfo): RedisReplicationStatus {
  const isSyncing = target.get('master_sync_in_progress') === '1';
  const hasPendingReplica = [...source].some(
    ([name, value]) => /^slave\d+$/.test(name) && !value.includes('state=online'),
  );
  const isCopying =
    isSyncing && (hasPendingReplica || (readRedisInfoNumber(target, 'master_sync_read_bytes') ?? 0) > 0);
  const isUp = target.get('master_link_status') === 'up' && !isSyncing;
  const sourceOffset = readRedisInfoNumber(source, 'master_repl_offset') ?? 0;
  const targetOffset = readRedisInfoNumber(target, 'slave_repl_offset') ?? 0;
  return {
    isUp,
    isCopying,
    lagBytes: Math.max(0, sourceOffset - targetOffset),
    sourceOffset,
    targetOffset,
    writeMarker: (['rdb_last_save_time', 'rdb_changes_since_last_save'] as const)
      .map((name) => source.get(name))
      .join(),
    databases: databasesOf(source, target, isUp),
  };
}

function databasesOf(source: RedisInfo, target: RedisInfo, isUp: boolean): readonly RedisDatabaseProgress[] {
  const counts = new Map(parseKeyspace(target).map(({ index, keys }) => [index, keys]));
  const indexes = new Set([...parseKeyspace(source).map(({ index }) => index), ...counts.keys()]);
  // An empty source has no databases in INFO, but is replicated as well; its first key may appear in any database.
  return (indexes.size === 0 ? [0] : [...indexes])
    .sort((a, b) => a - b)
    .map((index) => {
      const rows = counts.get(index) ?? 0;
      return { name: `db${index}`, keys: { name: 'keys', stage: isUp ? 'r' : rows === 0 ? 'i' : 'd', rows } };
    });
}
