import {
  decodeBooleanColumn,
  decodeOptionalNumberColumn,
  decodeOptionalTextColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface ReplicationSlot {
  readonly name: string;
  readonly kind: 'physical' | 'logical';
  readonly plugin: string | undefined;
  readonly database: string | undefined;
  readonly active: boolean;
  readonly temporary: boolean;
  /** Bytes of WAL that the server keeps for the slot; undefined if there are none, or if the server is in recovery. */
  readonly retained: number | undefined;
  /** The state of the WAL that the slot needs: `reserved`, `extended`, `unreserved` or `lost` (since PostgreSQL 13). */
  readonly walStatus: string | undefined;
}

export const replicationSlotsQuery: PostgresqlPreflightQuery<readonly ReplicationSlot[]> = {
  id: 'slots',
  scope: 'server',
  sql: (version, { inRecovery }) => `
    SELECT
      slot_name,
      slot_type,
      plugin,
      database,
      active,
      ${version < 100_000 ? 'false AS temporary' : 'temporary'},
      ${retained(version, inRecovery)} AS retained${version < 130_000 ? '' : ', wal_status'}
    FROM pg_replication_slots
    ORDER BY slot_name
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'slot_name'),
      kind: row.slot_type === 'logical' ? 'logical' : 'physical',
      plugin: decodeOptionalTextColumn(row, 'plugin'),
      database: decodeOptionalTextColumn(row, 'database'),
      active: decodeBooleanColumn(row, 'active'),
      temporary: decodeBooleanColumn(row, 'temporary'),
      retained: decodeOptionalNumberColumn(row, 'retained'),
      walStatus: decodeOptionalTextColumn(row, 'wal_status'),
    })),
  absent: [],
};

/** The function for the current WAL position fails in recovery. */
function retained(version: number, inRecovery: boolean): string {
  if (inRecovery) return 'NULL::bigint';
  return version < 100_000
    ? 'pg_xlog_location_diff(pg_current_xlog_location(), restart_lsn)::bigint'
    : 'pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint';
}

/** Whether the slot was created by a migration: for a subscription or an initial copy. */
export function isMigrationSlot(name: string): boolean {
  return migrationSlotPattern.test(name);
}

/**
 * Names of replication slots of migrations. The pattern is used in JavaScript and in PostgreSQL, and has the same
 * meaning in both.
 */
export const migrationSlotPattern = /^(aiven_db_migrate_|cloudctl_|pg_\d+_sync_\d+)/;
