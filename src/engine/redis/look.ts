import { type Info, keyspaceOf, numberIn } from '../../redis/info.ts';
import type { TableState } from '../state.ts';

/** How far the target is, as both sides tell it. */
export interface Look {
  readonly isUp: boolean;
  /** A full copy is on its way, and not only asked for: a source that refuses is asked again every second. */
  readonly isCopying: boolean;
  readonly lagBytes: number;
  /** How far the stream of the source had come, and what of it the target has taken. */
  readonly written: number;
  readonly taken: number;
  /** Changes with every write of people; the offsets move by themselves. */
  readonly writes: string;
  readonly databases: readonly KeysLook[];
}

export interface KeysLook {
  readonly name: string;
  readonly keys: TableState;
}

export function look(source: Info, target: Info): Look {
  const isAsked = target.get('master_sync_in_progress') === '1';
  const isServed = [...source].some(([name, value]) => /^slave\d+$/.test(name) && !value.includes('state=online'));
  const isCopying = isAsked && (isServed || (numberIn(target, 'master_sync_read_bytes') ?? 0) > 0);
  const isUp = target.get('master_link_status') === 'up' && !isAsked;
  const written = numberIn(source, 'master_repl_offset') ?? 0;
  const taken = numberIn(target, 'slave_repl_offset') ?? 0;
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

function databasesOf(source: Info, target: Info, isUp: boolean): readonly KeysLook[] {
  const counts = new Map(keyspaceOf(target).map(({ index, keys }) => [index, keys]));
  const indexes = new Set([...keyspaceOf(source).map(({ index }) => index), ...counts.keys()]);
  // A source without a key is followed as well, and its first key may come in any database.
  return (indexes.size === 0 ? [0] : [...indexes])
    .sort((a, b) => a - b)
    .map((index) => {
      const rows = counts.get(index) ?? 0;
      return { name: `db${index}`, keys: { name: 'keys', stage: isUp ? 'r' : rows === 0 ? 'i' : 'd', rows } };
    });
}
