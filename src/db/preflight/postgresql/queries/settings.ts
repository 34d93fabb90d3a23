import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowQuery, rowsQuery, type ValueOf } from '../query.ts';

export type ServerSetting = ReturnType<typeof decodeSetting>;

/**
 * Roles of the administrators of managed services. Membership in such a role shows, like a setting of the service, that
 * ALTER SYSTEM is not possible. Only a member without SUPERUSER counts, because pg_dumpall may have copied these roles
 * to an ordinary server.
 */
const administratorRoles = ['azure_pg_admin', 'cloudsqlsuperuser', 'rds_superuser'] as const;

/** The names of all settings that checks read. A check can only read settings of this list; others do not compile. */
const settingNames = [
  ...administratorRoles,
  'DateStyle',
  'IntervalStyle',
  'TimeZone',
  'allow_alter_system',
  'array_nulls',
  'autovacuum_max_workers',
  'autovacuum_worker_slots',
  'azure.extensions',
  'bytea_output',
  'cloudsql.logical_decoding',
  'default_text_search_config',
  'default_transaction_read_only',
  'extra_float_digits',
  'hot_standby_feedback',
  'huge_pages',
  'idle_in_transaction_session_timeout',
  'idle_replication_slot_timeout',
  'idle_session_timeout',
  'lc_monetary',
  'lc_numeric',
  'lc_time',
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
  'plpgsql.check_asserts',
  'plpgsql.variable_conflict',
  'port',
  'quote_all_identifiers',
  'rds.extensions',
  'rds.logical_replication',
  'reserved_connections',
  'row_security',
  'shared_preload_libraries',
  'ssl',
  'standard_conforming_strings',
  'statement_timeout',
  'superuser_reserved_connections',
  'synchronous_commit',
  'synchronous_standby_names',
  'temp_file_limit',
  'timezone_abbreviations',
  'transaction_timeout',
  'transform_null_equals',
  'wal_keep_size',
  'wal_level',
  'wal_sender_timeout',
  'work_mem',
  'xmlbinary',
  'xmloption',
] as const;

export type SettingName = (typeof settingNames)[number];

/**
 * Settings by name; a setting is missing if the server version does not have it, or if the role may not see it.
 * Iterating over this object also returns all other settings for which a restart is pending.
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
    SELECT name, current_setting(name, true), NULL, 'superuser', false, 'configuration file', NULL
    FROM (VALUES ('plpgsql.check_asserts'), ('plpgsql.variable_conflict')) plpgsql (name)
    WHERE current_setting(name, true) <> ''
    UNION ALL
    SELECT rolname, '', NULL, 'internal', false, 'role', NULL
    FROM pg_roles
    WHERE rolname IN (${administratorRoles.map((name) => `'${name}'`).join(', ')})
      AND current_setting('is_superuser') = 'off'
      AND pg_has_role(oid, 'MEMBER')
  `,
  decode: (rows) => new Map(rows.map((row) => [decodeText(row, 'name'), decodeSetting(row)])),
  absent: new Map(),
};

const decodeSetting = columns({
  /**
   * reset_val of pg_settings: the value that the session began with. The value is not read from the present setting,
   * because the read-only transaction changes some settings.
   */
  value: column.text('setting'),
  /** The unit of a bare number in the setting: `ms`, `kB`, `8kB`; undefined: no unit. */
  unit: column.optionalText('unit'),
  /** pg_settings.context; `postmaster`: a change takes effect after a restart. */
  context: column.text('context'),
  /** Whether a configuration file has another value, which takes effect after a restart. */
  pendingRestart: column.boolean('pending_restart'),
  /** pg_settings.source: `default`, `configuration file`, `command line`, `database`, `user` and others. */
  source: column.text('source'),
  /** The configuration file that sets the value; undefined if there is none, or if it is hidden from this role. */
  file: column.optionalText('sourcefile'),
});

/** Returns the setting names that an object has as keys, typed as setting names. */
export function settingKeys(values: Readonly<Partial<Record<SettingName, unknown>>>): readonly SettingName[] {
  return Object.keys(values).filter(isSettingName);
}

function isSettingName(name: string): name is SettingName {
  return settingNames.some((one) => one === name);
}

/** The value of a setting; empty if the setting is missing. */
export function getSetting(settings: ServerSettings, name: SettingName): string {
  return settings.get(name)?.value ?? '';
}

/** The value of a setting whose name came from the server; empty if the setting is missing. */
export function namedSetting(settings: ServerSettings, name: string): string {
  return [...settings].find(([one]) => one === name)?.[1].value ?? '';
}

/**
 * The value of a numeric setting, in the unit that pg_settings reports. If the server version does not have the
 * setting, the value of `missing`.
 */
export function numericSetting(settings: ServerSettings, name: SettingName, missing = 0): number {
  const setting = settings.get(name);
  return setting === undefined ? missing : Number(setting.value);
}

/** A line of a configuration file that the server could not apply. */
export type UnappliedLine = RowOf<typeof unappliedLinesQuery>;

/** The `error` in pg_file_settings of a valid line that takes effect after a restart. */
export const restartError = 'setting could not be applied';

export const unappliedLinesQuery = rowsQuery({
  id: 'unapplied-config-lines',
  scope: 'server',
  sql: () => `
    SELECT name, setting, error, sourcefile, sourceline
    FROM pg_file_settings
    WHERE NOT applied AND error IS NOT NULL
  `,
  row: columns({
    name: column.text('name'),
    value: column.text('setting'),
    error: column.text('error'),
    file: column.text('sourcefile'),
    line: column.number('sourceline'),
  }),
  grant: (user) => {
    const role = quoteIdentifier(user);
    return `GRANT EXECUTE ON FUNCTION pg_show_all_file_settings() TO ${role}; GRANT SELECT ON pg_file_settings TO ${role}`;
  },
});

/** The numbers of connection slots of the server. */
export type ConnectionCapacity = ValueOf<typeof capacityQuery>;

export const capacityQuery = rowQuery({
  id: 'connection-capacity',
  scope: 'server',
  sql: (version) => `
    SELECT
      current_setting('max_connections') AS max,
      current_setting('superuser_reserved_connections')::int${version < 160_000 ? '' : " + current_setting('reserved_connections')::int"} AS reserved,
      (
        SELECT count(*)
        FROM pg_stat_activity
        WHERE usesysid IS NOT NULL${version < 120_000 ? '' : ' AND pid NOT IN (SELECT pid FROM pg_stat_replication)'}
      ) AS used
  `,
  row: columns({
    max: column.number('max'),
    /** Connection slots reserved for superusers and, since PostgreSQL 16, for members of pg_use_reserved_connections. */
    reserved: column.number('reserved'),
    /**
     * Connection slots in use, including those of this program. Before PostgreSQL 12, connections of WAL senders count as
     * well.
     */
    used: column.number('used'),
  }),
});

/**
 * Returns a tenth of the free connections. The preflight uses no more, because the other free connections are left to
 * the applications of the database.
 */
export function connectionBudget({ max, reserved, used }: ConnectionCapacity): number {
  return Math.floor((max - reserved - used) / 10);
}
