import { decodeBoolean, decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { featureCondition } from './database-overview.ts';

export interface Publication {
  readonly name: string;
  readonly allTables: boolean;
  /** Whether it is FOR TABLES IN SCHEMA (since PostgreSQL 15). */
  readonly inSchema?: boolean;
}

export const publicationsQuery = rowsQuery<Publication>({
  id: 'publications',
  scope: 'database',
  when: featureCondition('publications'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          pubname,
          puballtables,
          ${version < 150_000 ? 'false' : 'EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnpubid = p.oid)'} AS in_schema
        FROM pg_publication p
        ORDER BY pubname
      `,
  row: (row) => ({
    name: decodeText(row, 'pubname'),
    allTables: decodeBoolean(row, 'puballtables'),
    inSchema: decodeBoolean(row, 'in_schema'),
  }),
});

/** The names that migration engines give to their publications. */
export function isMigrationPublication(name: string): boolean {
  return /^(aiven_db_migrate_|cloudctl_)/.test(name);
}

export type ReplicationSlot = RowOf<typeof slotsQuery>;

export const slotsQuery = rowsQuery({
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
  row: columns({
    name: column.text('slot_name'),
    kind: column.oneOf('slot_type', 'physical', 'logical'),
    plugin: column.optionalText('plugin'),
    database: column.optionalText('database'),
    active: column.boolean('active'),
    temporary: column.boolean('temporary'),
    /** Bytes of WAL that the server keeps for the slot; undefined if there are none, or if the server is in recovery. */
    retained: column.optionalNumber('retained'),
    /** The state of the WAL that the slot needs: `reserved`, `extended`, `unreserved` or `lost` (since PostgreSQL 13). */
    walStatus: column.optionalText('wal_status'),
  }),
});

/** The function for the current WAL position fails in recovery. */
function retained(version: number, inRecovery: boolean): string {
  if (inRecovery) return 'NULL::bigint';
  return version < 100_000
    ? 'pg_xlog_location_diff(pg_current_xlog_location(), restart_lsn)::bigint'
    : 'pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint';
}

/** Whether the slot was created by a migration: for a subscription or an initial copy. */
export function isMigrationSlot(name: string): boolean {
  return slotPattern.test(name);
}

/**
 * Names of replication slots of migrations. The pattern is used in JavaScript and in PostgreSQL, and has the same
 * meaning in both.
 */
export const slotPattern = /^(aiven_db_migrate_|cloudctl_|pg_\d+_sync_\d+)/;

export interface WalPosition {
  /** Position in the WAL, in bytes. */
  readonly bytes: number;
  /** Time of the reading in seconds since the epoch, by the clock of the server. */
  readonly at: number;
}

/** The WAL position; undefined if the server is in recovery. */
export const walPositionQuery: PostgresqlQuery<WalPosition | undefined> = {
  id: 'wal-position',
  scope: 'server',
  sql: (version, { inRecovery }) =>
    inRecovery
      ? undefined
      : `
        SELECT
          ${version < 100_000 ? 'pg_current_xlog_location()' : 'pg_current_wal_lsn()'} - '0/0'::pg_lsn AS bytes,
          extract(epoch FROM clock_timestamp()) AS at
      `,
  decode: ([row]) =>
    row === undefined ? undefined : { bytes: decodeNumber(row, 'bytes'), at: decodeNumber(row, 'at') },
  absent: undefined,
};

/** Bytes of WAL written since the statistics were reset, and the seconds since then (PostgreSQL 14 and newer). */
export interface WalVolume {
  readonly bytes: number;
  readonly seconds: number;
}

export const walVolumeQuery: PostgresqlQuery<WalVolume | undefined> = {
  id: 'wal-history',
  scope: 'server',
  sql: (version) =>
    version < 140_000
      ? undefined
      : 'SELECT wal_bytes AS bytes, extract(epoch FROM now() - stats_reset) AS seconds FROM pg_stat_wal',
  decode: ([row]) =>
    row === undefined ? undefined : { bytes: decodeNumber(row, 'bytes'), seconds: decodeNumber(row, 'seconds') },
  absent: undefined,
};

/** A WAL sender process, which serves a standby, a base backup or logical replication. */
export type WalSender = RowOf<typeof walSendersQuery>;

export const walSendersQuery = rowsQuery({
  id: 'wal-senders',
  scope: 'server',
  sql: () => 'SELECT usename, application_name, sync_state FROM pg_stat_replication',
  row: columns({
    user: column.text('usename'),
    application: column.text('application_name'),
    /**
     * pg_stat_replication.sync_state: `sync`, `quorum`, `potential` or `async`; undefined if it is hidden from this role.
     */
    syncState: column.optionalText('sync_state'),
  }),
});
