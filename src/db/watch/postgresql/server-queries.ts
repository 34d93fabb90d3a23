import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
} from '../../../postgresql/rows.ts';
import type { CopyProgress, SettingFacts, SlotFacts, StoredTimeout, TransactionCounts, WalSender } from './facts.ts';
import type { WatchQuery } from './query.ts';

export const serverStatusQuery: WatchQuery<{
  startedAt: string;
  inRecovery: boolean;
  walPosition: number | undefined;
}> = {
  id: 'moment',
  sql: () => `
    SELECT pg_postmaster_start_time()::text AS started,
      pg_is_in_recovery() AS in_recovery,
      CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn() - '0/0'::pg_lsn END AS position`,
  decode: ([row]) => ({
    startedAt: decodeText(row, 'started'),
    inRecovery: decodeBoolean(row, 'in_recovery'),
    walPosition: decodeOptionalNumber(row, 'position'),
  }),
  fallback: { startedAt: '', inRecovery: false, walPosition: undefined },
};

export const slotsQuery: WatchQuery<readonly SlotFacts[]> = {
  id: 'slots',
  sql: (version) => {
    const status = version < 130_000 ? '' : ', s.wal_status, s.safe_wal_size';
    const since = version < 170_000 ? '' : ', s.inactive_since::text AS inactive_since, s.invalidation_reason';
    const decoded = version < 140_000 ? '' : ', t.total_txns';
    const statistics = version < 140_000 ? '' : ' LEFT JOIN pg_stat_replication_slots t USING (slot_name)';
    return `
      SELECT s.slot_name, s.plugin, s.database, s.temporary, s.active, s.active_pid,
        s.confirmed_flush_lsn - '0/0'::pg_lsn AS flushed,
        CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn() - s.restart_lsn END AS retained
        ${status}${since}${decoded}
      FROM pg_replication_slots s${statistics}
      ORDER BY s.slot_name`;
  },
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'slot_name'),
      plugin: decodeOptionalText(row, 'plugin'),
      database: decodeOptionalText(row, 'database'),
      temporary: decodeBoolean(row, 'temporary'),
      active: decodeBoolean(row, 'active'),
      pid: decodeOptionalNumber(row, 'active_pid'),
      flushed: decodeOptionalNumber(row, 'flushed'),
      retained: decodeOptionalNumber(row, 'retained'),
      walStatus: decodeOptionalText(row, 'wal_status'),
      safeWalBytes: decodeOptionalNumber(row, 'safe_wal_size'),
      inactiveSince: decodeOptionalText(row, 'inactive_since'),
      invalidated: decodeOptionalText(row, 'invalidation_reason'),
      decoded: decodeOptionalNumber(row, 'total_txns'),
    })),
  fallback: [],
};

export const sendersQuery: WatchQuery<readonly WalSender[]> = {
  id: 'senders',
  sql: (version) => `
    SELECT r.pid, r.application_name, r.state, r.client_addr::text AS address,
      a.datname, left(a.query, 500) AS command${version < 120_000 ? '' : ', extract(epoch FROM clock_timestamp() - r.reply_time) AS reply_age'},
      date_part('epoch', clock_timestamp() - r.backend_start) AS connected_for
    FROM pg_stat_replication r
    LEFT JOIN pg_stat_activity a USING (pid)`,
  decode: (rows) =>
    rows.map((row) => ({
      pid: decodeNumber(row, 'pid'),
      database: decodeOptionalText(row, 'datname'),
      application: decodeText(row, 'application_name'),
      state: decodeText(row, 'state'),
      address: decodeOptionalText(row, 'address')?.replace(/\/\d+$/, ''),
      command: decodeText(row, 'command'),
      replyAge: decodeOptionalNumber(row, 'reply_age'),
      connectedFor: decodeOptionalNumber(row, 'connected_for'),
    })),
  fallback: [],
};

/**
 * Reads the running COPY statements. pg_stat_progress_copy exists from PostgreSQL 14 on; before it only the statement
 * is visible.
 */
export const copiesQuery: WatchQuery<readonly CopyProgress[]> = {
  id: 'copies',
  sql: (version) =>
    version < 140_000
      ? `
        SELECT pid, datname, substring(query FROM '(?i)^COPY +([^ (]+)') AS name,
          0 AS tuples_processed, 0 AS bytes_processed, application_name = 'pg_dump' AS dump
        FROM pg_stat_activity
        WHERE state = 'active' AND query ~* '^COPY .* TO stdout'`
      : `
        SELECT p.pid, p.datname, p.relid, p.tuples_processed, p.bytes_processed,
          a.application_name = 'pg_dump' AS dump
        FROM pg_stat_progress_copy p
        LEFT JOIN pg_stat_activity a USING (pid)
        WHERE p.command = 'COPY TO'`,
  decode: (rows) =>
    rows.map((row) => ({
      pid: decodeNumber(row, 'pid'),
      database: decodeText(row, 'datname'),
      table: decodeOptionalNumber(row, 'relid') ?? decodeText(row, 'name').replaceAll('"', ''),
      rows: decodeNumber(row, 'tuples_processed'),
      bytes: decodeNumber(row, 'bytes_processed'),
      dump: decodeBoolean(row, 'dump'),
    })),
  fallback: [],
};

export const dumpsQuery: WatchQuery<readonly string[]> = {
  id: 'dumps',
  sql: () => `
    SELECT DISTINCT a.datname
    FROM pg_stat_activity a
    JOIN pg_locks l USING (pid)
    WHERE a.application_name = 'pg_dump'
      AND l.mode = 'AccessShareLock' AND l.granted AND l.relation >= ${firstNormalOid}`,
  decode: (rows) => rows.map((row) => decodeText(row, 'datname')),
  fallback: [],
};

const watchedSettingNames = [
  'listen_addresses',
  'max_replication_slots',
  'max_slot_wal_keep_size',
  'max_wal_senders',
  'port',
  'ssl',
  'ssl_cert_file',
  'synchronous_standby_names',
  'wal_level',
  'wal_sender_timeout',
];
const watchedSettingList = watchedSettingNames.map((name) => `'${name}'`).join(', ');

export const settingsQuery: WatchQuery<ReadonlyMap<string, SettingFacts>> = {
  id: 'settings',
  sql: () => `SELECT name, reset_val, pending_restart FROM pg_settings WHERE name IN (${watchedSettingList})`,
  decode: (rows) =>
    new Map(
      rows.map((row) => [
        decodeText(row, 'name'),
        {
          value: decodeText(row, 'reset_val'),
          pendingRestart: decodeBoolean(row, 'pending_restart'),
          inFile: undefined,
        },
      ]),
    ),
  fallback: new Map(),
};

/**
 * Reads the settings in the configuration files. A change by ALTER SYSTEM is visible in pg_file_settings before a
 * reload.
 */
export const fileSettingsQuery: WatchQuery<ReadonlyMap<string, string>> = {
  id: 'files',
  sql: () => `
    SELECT DISTINCT ON (name) name, setting
    FROM pg_file_settings
    WHERE name IN (${watchedSettingList})
    ORDER BY name, seqno DESC`,
  decode: (rows) => new Map(rows.map((row) => [decodeText(row, 'name'), decodeText(row, 'setting')])),
  fallback: new Map(),
};

/** Host rules as lines of pg_hba.conf, in their order, without the secrets of their options, 1,000 at most. */
export const hbaLinesQuery: WatchQuery<readonly string[] | undefined> = {
  id: 'host-rules',
  sql: () => `
    SELECT left(concat_ws(' ', type, array_to_string(database, ','), array_to_string(user_name, ','),
      address, netmask, auth_method, (
        SELECT string_agg(CASE WHEN o ~ '^(ldapbindpasswd|radiussecrets)=' THEN split_part(o, '=', 1) ELSE o END, ' ')
        FROM unnest(options) o
      ), error), 500) AS line
    FROM pg_hba_file_rules ORDER BY line_number LIMIT 1000`,
  decode: (rows) => rows.map((row) => decodeText(row, 'line')),
  fallback: undefined,
};

export const transactionsQuery: WatchQuery<readonly TransactionCounts[]> = {
  id: 'traffic',
  sql: () => `
    SELECT d.datname, s.xact_commit, s.xact_rollback
    FROM pg_database d
    LEFT JOIN pg_stat_database s ON s.datid = d.oid
    WHERE d.datallowconn AND NOT d.datistemplate
    ORDER BY d.datname`,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'datname'),
      commits: decodeNumber(row, 'xact_commit'),
      rollbacks: decodeNumber(row, 'xact_rollback'),
    })),
  fallback: [],
};

export const blockedCommitsQuery: WatchQuery<{ commits: number; seconds: number }> = {
  id: 'blocked',
  sql: () => `
    SELECT count(*) AS commits,
      coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0) AS seconds
    FROM pg_stat_activity
    WHERE wait_event = 'SyncRep'`,
  decode: ([row]) => ({
    commits: decodeNumber(row, 'commits'),
    seconds: decodeNumber(row, 'seconds'),
  }),
  fallback: { commits: 0, seconds: 0 },
};

/** Timeouts that are set for the role, or for all roles in one database, and that end a COPY of the migration. */
export const roleTimeoutsQuery: WatchQuery<readonly StoredTimeout[]> = {
  id: 'role-timeouts',
  sql: () => `
    SELECT s.setting, r.setrole <> 0 AS of_role, d.datname
    FROM pg_db_role_setting r
    CROSS JOIN LATERAL unnest(r.setconfig) AS s(setting)
    LEFT JOIN pg_database d ON d.oid = r.setdatabase
    WHERE r.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND s.setting ~ '^(statement|lock|transaction|idle_in_transaction_session|idle_session)_timeout='
    ORDER BY 1, 2, 3`,
  decode: (rows) =>
    rows.map((row) => ({
      setting: decodeText(row, 'setting'),
      isOfRole: decodeBoolean(row, 'of_role'),
      database: decodeOptionalText(row, 'datname'),
    })),
  fallback: [],
};

export const roleQuery: WatchQuery<
  | { name: string; superuser: boolean; replication: boolean; login: boolean; secondsLeft: number | undefined }
  | undefined
> = {
  id: 'role',
  sql: () => `
    SELECT rolname, rolsuper, rolreplication, rolcanlogin,
      CASE WHEN isfinite(rolvaliduntil) THEN floor(extract(epoch FROM rolvaliduntil - now())) END AS seconds_left
    FROM pg_roles
    WHERE rolname = current_user`,
  decode: ([row]) => ({
    name: decodeText(row, 'rolname'),
    superuser: decodeBoolean(row, 'rolsuper'),
    replication: decodeBoolean(row, 'rolreplication'),
    login: decodeBoolean(row, 'rolcanlogin'),
    secondsLeft: decodeOptionalNumber(row, 'seconds_left'),
  }),
  fallback: undefined,
};

/** Reads xmin of the row of the role, which changes with the password without revealing it. */
export const roleRevisionQuery: WatchQuery<string | undefined> = {
  id: 'revision',
  sql: () => 'SELECT xmin::text AS revision FROM pg_authid WHERE rolname = current_user',
  decode: ([row]) => decodeOptionalText(row, 'revision'),
  fallback: undefined,
};
