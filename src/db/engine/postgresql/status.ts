import { quoteLiteral } from '../../../postgresql/quote.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { MigrationError } from '../error.ts';
import { type TableProgress, type TableSyncState, tableSyncStates } from '../state.ts';
import { singleValue } from './session.ts';

/** The replication state of one database, read from the target. */
export interface TargetStatus {
  readonly tables: readonly TableProgress[];
  /** A text that changes only when the target has applied a transaction. */
  readonly position: string;
  /** Number of errors of the replication workers so far; undefined before PostgreSQL 15, which does not count them. */
  readonly failures: number | undefined;
}

export async function readTargetStatus(session: SafeSession, name: string, version: number): Promise<TargetStatus> {
  const own = `s.subname = ${quoteLiteral(name)} AND s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  // Privileges are checked when a statement begins, whether or not the part that needs them is reached.
  const mayReadOrigins = await singleValue(
    session,
    "SELECT has_function_privilege('pg_show_replication_origin_status()', 'EXECUTE')::text",
  );
  const [tables = [], [row] = []] = await session.query(`
    SELECT n.nspname || '.' || c.relname AS name, r.srsubstate AS stage,
      ${version >= 140_000 ? 'coalesce(p.tuples_processed, pg_stat_get_live_tuples(c.oid))' : 'pg_stat_get_live_tuples(c.oid)'} AS rows
    FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid
    JOIN pg_class c ON c.oid = r.srrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    ${version >= 140_000 ? 'LEFT JOIN pg_stat_progress_copy p ON p.relid = c.oid AND p.datid = s.subdbid' : ''}
    WHERE ${own} ORDER BY 1;
    SELECT ${
      mayReadOrigins === 'true'
        ? "(SELECT o.remote_lsn::text FROM pg_show_replication_origin_status() o WHERE o.external_id = 'pg_' || s.oid)"
        : '(SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text FROM pg_stat_user_tables)'
    } AS position,
      ${version >= 150_000 ? '(SELECT apply_error_count + sync_error_count FROM pg_stat_subscription_stats f WHERE f.subid = s.oid)' : 'NULL'} AS failures
    FROM pg_subscription s WHERE ${own}`);
  if (row === undefined) throw new MigrationError('the subscription does not exist on the target any more');
  return {
    tables: tables.map((one) => ({
      name: one.name ?? '',
      stage: parseSyncState(one.stage),
      rows: Number(one.rows ?? 0),
    })),
    position: row.position ?? '',
    failures: row.failures == null ? undefined : Number(row.failures),
  };
}

function parseSyncState(text: string | null | undefined): TableSyncState {
  return tableSyncStates.find((stage) => stage === text) ?? 'i';
}

/** The replication state of all databases, read from the source: replication slots by name. */
export interface SourceStatus {
  /** End of the WAL of the source, to be passed to the next poll. */
  readonly endLsn: string;
  readonly slots: ReadonlyMap<string, SlotStatus>;
}

export interface SlotStatus {
  readonly lagBytes: number;
  /** Whether the target has confirmed everything up to the `endLsn` of the previous poll. */
  readonly caughtUp: boolean;
  readonly lost: boolean;
  /** Whether the target is connected to the replication slot. */
  readonly active: boolean;
}

export async function readSourceStatus(
  session: SafeSession,
  names: readonly string[],
  before: string | undefined,
  version: number,
): Promise<SourceStatus> {
  const [slots = [], [row] = []] = await session.query(`
    SELECT slot_name, active, greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)) AS lag,
      confirmed_flush_lsn >= ${before === undefined ? 'NULL' : quoteLiteral(before)}::pg_lsn AS caught_up,
      ${version >= 130_000 ? 'wal_status' : 'NULL'} AS wal_status
    FROM pg_replication_slots WHERE slot_name IN (${names.map(quoteLiteral).join(', ') || 'NULL'});
    SELECT pg_current_wal_lsn() AS lsn`);
  return {
    endLsn: row?.lsn ?? '',
    slots: new Map(
      slots.map((slot) => [
        slot.slot_name ?? '',
        {
          lagBytes: Number(slot.lag ?? 0),
          caughtUp: slot.caught_up === 't',
          lost: slot.wal_status === 'lost',
          active: slot.active === 't',
        },
      ]),
    ),
  };
}
