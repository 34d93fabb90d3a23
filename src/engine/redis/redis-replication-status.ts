import { infoNumber, parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { TableProgress } from '../migration-state.ts';

/** How far the target is, as both sides tell it. */
export interface RedisReplicationStatus {
  readonly isUp: boolean;
  /** A full copy is on its way, and not only asked for: a source that refuses is asked again every second. */
  readonly isCopying: boolean;
  readonly lagBytes: number;
  /** How far the stream of the source had come, and what of it the target has taken. */
  readonly written: number;
  readonly taken: number;
  /** Changes with every write of people; the offsets move by themselves. */
  readonly writes: string;
  readonly databases: readonly RedisDatabaseProgress[];
}

export interface RedisDatabaseProgress {
  readonly name: string;
  readonly keys: TableProgress;
}

export function readReplicationStatus(source: RedisInfo, target: RedisInfo): RedisReplicationStatus {
  const isAsked = target.get('master_sync_in_progress') === '1';
  const isServed = [...source].some(([name, value]) => /^slave\d+$/.test(name) && !value.includes('state=online'));
  const isCopying = isAsked && (isServed || (infoNumber(target, 'master_sync_read_bytes') ?? 0) > 0);
  const isUp = target.get('master_link_status') === 'up' && !isAsked;
  const written = infoNumber(source, 'master_repl_offset') ?? 0;
  const taken = infoNumber(target, 'slave_repl_offset') ?? 0;
  return {
    isUp,
    isCopying,
    lagBytes: Math.max(0, written - taken),
    written,
    taken,
    writes: ['rdb_last_save_time', 'rdb_changes_since_last_save'].map((name) => source.get(name)).join(),
    databases: databasesOf(source, target, isUp),
  };
}

function databasesOf(source: RedisInfo, target: RedisInfo, isUp: boolean): readonly RedisDatabaseProgress[] {
  const counts = new Map(parseKeyspace(target).map(({ index, keys }) => [index, keys]));
  const indexes = new Set([...parseKeyspace(source).map(({ index }) => index), ...counts.keys()]);
  // A source without a key is followed as well, and its first key may come in any database.
  return (indexes.size === 0 ? [0] : [...indexes])
    .sort((a, b) => a - b)
    .map((index) => {
      const rows = counts.get(index) ?? 0;
      return { name: `db${index}`, keys: { name: 'keys', stage: isUp ? 'r' : rows === 0 ? 'i' : 'd', rows } };
    });
}
