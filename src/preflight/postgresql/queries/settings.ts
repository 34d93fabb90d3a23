import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import type { PostgresqlQuery } from '../query.ts';
import { decodeBoolean, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

export interface ServerSetting {
  /** reset_val: the value that the session began with. The read-only transaction sets some of them. */
  readonly value: string;
  /** The unit of a number without one: `ms`, `kB`, `8kB`; undefined: no unit. */
  readonly unit: string | undefined;
  /** `postmaster`: a change takes effect after a restart. */
  readonly context: string;
  /** A configuration file has another value, which takes effect after a restart. */
  readonly pendingRestart: boolean;
  /** `default`, `configuration file`, `command line`, `database`, `user` and others. */
  readonly source: string;
  /** The configuration file; undefined: none, or hidden from this role. */
  readonly file: string | undefined;
}

/**
 * Administrators of managed services. Like a setting of the service, they show where ALTER SYSTEM is not possible. Only a
 * member without SUPERUSER counts: a server may have copies of these roles, which pg_dumpall brought along.
 */
const administratorRoles = ['azure_pg_admin', 'cloudsqlsuperuser', 'rds_superuser'] as const;

/** The settings that checks read. Reading another one does not compile: add it here first. */
const settingNames = [
  ...administratorRoles,
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
] as const;

export type SettingName = (typeof settingNames)[number];

/**
 * Settings by name; one is missing when the version does not have it or the role may not see it. Iterating yields settings
 * with a pending restart as well, whatever their name.
 */
export interface ServerSettings extends Iterable<readonly [name: string, setting: ServerSetting]> {
  get(name: SettingName): ServerSetting | undefined;
  has(name: SettingName): boolean;
}

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
    UNION ALL
    SELECT rolname, '', NULL, 'internal', false, 'role', NULL
    FROM pg_roles
    WHERE rolname IN (${administratorRoles.map((name) => `'${name}'`).join(', ')})
      AND current_setting('is_superuser') = 'off'
      AND pg_has_role(oid, 'MEMBER')
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

/** The keys of an object whose keys are names of settings, in its order. */
export function settingKeysOf(values: Readonly<Partial<Record<SettingName, unknown>>>): readonly SettingName[] {
  return Object.keys(values).filter(isSettingName);
}

function isSettingName(name: string): name is SettingName {
  return settingNames.some((one) => one === name);
}

/** The value of a setting; empty when it is missing. */
export function settingOf(settings: ServerSettings, name: SettingName): string {
  return settings.get(name)?.value ?? '';
}

/** The value of a setting whose name came from the server; empty when it is missing. */
export function namedSettingOf(settings: ServerSettings, name: string): string {
  return [...settings].find(([one]) => one === name)?.[1].value ?? '';
}

/** The value of a numeric setting, in its own unit; `missing` when the version does not have it. */
export function numericSettingOf(settings: ServerSettings, name: SettingName, missing = 0): number {
  const setting = settings.get(name);
  return setting === undefined ? missing : Number(setting.value);
}
