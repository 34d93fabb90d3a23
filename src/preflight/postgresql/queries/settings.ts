import type { PostgresqlRow } from '../../../postgresql/connection.ts';
import type { PostgresqlQuery } from '../query.ts';
import { decodeBoolean, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

export interface ServerSetting {
  /** What our own session began with: in the transaction that asks, some are set otherwise. */
  readonly value: string;
  /** What a plain number counts: `ms`, `kB`, `8kB`; undefined: nothing. */
  readonly unit: string | undefined;
  /** `postmaster`: a change needs a restart. */
  readonly context: string;
  /** The file holds another value that waits for a restart. */
  readonly pendingRestart: boolean;
  /** As in `default`, `configuration file`, `command line`, `database`, `user`. */
  readonly source: string;
  /** undefined: not from a file, or hidden from this role. */
  readonly file: string | undefined;
}

/** By name; what the version does not have, or what this role may not see, is missing. */
export type ServerSettings = ReadonlyMap<string, ServerSetting>;

const settingNames = [
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'allow_alter_system',
  'autovacuum_max_workers',
  'autovacuum_worker_slots',
  'azure.extensions',
  'cloudsql.logical_decoding',
  'default_transaction_read_only',
  'hot_standby_feedback',
  'huge_pages',
  'idle_in_transaction_session_timeout',
  'idle_replication_slot_timeout',
  'idle_session_timeout',
  'listen_addresses',
  'lock_timeout',
  'logical_decoding_work_mem',
  'max_connections',
  'max_locks_per_transaction',
  'max_prepared_transactions',
  'max_replication_slots',
  'max_slot_wal_keep_size',
  'max_standby_streaming_delay',
  'max_wal_senders',
  'max_wal_size',
  'max_worker_processes',
  'password_encryption',
  'port',
  'rds.extensions',
  'rds.logical_replication',
  'reserved_connections',
  'row_security',
  'shared_preload_libraries',
  'ssl',
  'statement_timeout',
  'superuser_reserved_connections',
  'synchronous_commit',
  'synchronous_standby_names',
  'temp_file_limit',
  'transaction_timeout',
  'wal_keep_size',
  'wal_level',
  'wal_sender_timeout',
  'work_mem',
];

export const settingsQuery: PostgresqlQuery<ServerSettings> = {
  id: 'settings',
  scope: 'server',
  sql: () => `
    SELECT
      name,
      reset_val AS setting,
      unit,
      context,
      pending_restart,
      source,
      sourcefile
    FROM pg_settings
    WHERE pending_restart
      OR name IN (
        ${settingNames.map((name) => `'${name}'`).join(', ')}
      )
  `,
  decode: (rows) => new Map(rows.map((row) => [decodeText(row, 'name'), decodeSetting(row)])),
  absent: new Map(),
  grant: grantMonitorRole,
};

function decodeSetting(row: PostgresqlRow): ServerSetting {
  return {
    value: decodeText(row, 'setting'),
    unit: decodeOptionalText(row, 'unit'),
    context: decodeText(row, 'context'),
    pendingRestart: decodeBoolean(row, 'pending_restart'),
    source: decodeText(row, 'source'),
    file: decodeOptionalText(row, 'sourcefile'),
  };
}

export function settingOf(all: ServerSettings, name: string): string {
  return all.get(name)?.value ?? '';
}

/** A setting that counts something; `missing` where the version has no such setting. */
export function numericSettingOf(all: ServerSettings, name: string, missing = 0): number {
  const found = all.get(name);
  return found === undefined ? missing : Number(found.value);
}
