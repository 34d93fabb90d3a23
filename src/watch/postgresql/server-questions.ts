import type { Question } from './ask.ts';
import type { Copy, Sender, Setting, Slot, Traffic } from './facts.ts';
import { text, textOrNone, truth, whole, wholeOrNone } from './rows.ts';

export const moment: Question<{ startedAt: string; inRecovery: boolean; position: number | undefined }> = {
  id: 'moment',
  sql: () =>
    "SELECT pg_postmaster_start_time()::text AS started, pg_is_in_recovery() AS in_recovery, CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn() - '0/0'::pg_lsn END AS position",
  decode: ([row]) => ({
    startedAt: text(row, 'started'),
    inRecovery: truth(row, 'in_recovery'),
    position: wholeOrNone(row, 'position'),
  }),
  absent: { startedAt: '', inRecovery: false, position: undefined },
};

export const slots: Question<readonly Slot[]> = {
  id: 'slots',
  sql: (version) => {
    const status = version < 130_000 ? '' : ', s.wal_status, s.safe_wal_size';
    const since = version < 170_000 ? '' : ', s.inactive_since::text AS inactive_since, s.invalidation_reason';
    const decoded = version < 140_000 ? '' : ', t.total_txns';
    const statistics = version < 140_000 ? '' : ' LEFT JOIN pg_stat_replication_slots t USING (slot_name)';
    return `SELECT s.slot_name, s.plugin, s.database, s.temporary, s.active, s.active_pid, s.confirmed_flush_lsn - '0/0'::pg_lsn AS flushed, CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn() - s.restart_lsn END AS retained${status}${since}${decoded} FROM pg_replication_slots s${statistics} ORDER BY s.slot_name`;
  },
  decode: (rows) =>
    rows.map((row) => ({
      name: text(row, 'slot_name'),
      plugin: textOrNone(row, 'plugin'),
      database: textOrNone(row, 'database'),
      temporary: truth(row, 'temporary'),
      active: truth(row, 'active'),
      pid: wholeOrNone(row, 'active_pid'),
      flushed: wholeOrNone(row, 'flushed'),
      retained: wholeOrNone(row, 'retained'),
      walStatus: textOrNone(row, 'wal_status'),
      safe: wholeOrNone(row, 'safe_wal_size'),
      inactiveSince: textOrNone(row, 'inactive_since'),
      invalidated: textOrNone(row, 'invalidation_reason'),
      decoded: wholeOrNone(row, 'total_txns'),
    })),
  absent: [],
};

export const senders: Question<readonly Sender[]> = {
  id: 'senders',
  sql: () =>
    'SELECT r.pid, r.application_name, r.state, r.client_addr::text AS address, a.datname, left(a.query, 500) AS command FROM pg_stat_replication r LEFT JOIN pg_stat_activity a USING (pid)',
  decode: (rows) =>
    rows.map((row) => ({
      pid: whole(row, 'pid'),
      database: textOrNone(row, 'datname'),
      application: text(row, 'application_name'),
      state: text(row, 'state'),
      address: textOrNone(row, 'address')?.replace(/\/\d+$/, ''),
      command: text(row, 'command'),
    })),
  absent: [],
};

/** A view of its own tells how far a COPY is since 14; before it only the statement is to be seen. */
export const copies: Question<readonly Copy[]> = {
  id: 'copies',
  sql: (version) =>
    version < 140_000
      ? "SELECT pid, datname, substring(query FROM '(?i)^COPY +([^ (]+)') AS name, 0 AS tuples_processed, 0 AS bytes_processed, application_name = 'pg_dump' AS dump FROM pg_stat_activity WHERE state = 'active' AND query ~* '^COPY .* TO stdout'"
      : "SELECT p.pid, p.datname, p.relid, p.tuples_processed, p.bytes_processed, a.application_name = 'pg_dump' AS dump FROM pg_stat_progress_copy p LEFT JOIN pg_stat_activity a USING (pid) WHERE p.command = 'COPY TO'",
  decode: (rows) =>
    rows.map((row) => ({
      pid: whole(row, 'pid'),
      database: text(row, 'datname'),
      table: wholeOrNone(row, 'relid') ?? text(row, 'name').replaceAll('"', ''),
      rows: whole(row, 'tuples_processed'),
      bytes: whole(row, 'bytes_processed'),
      dump: truth(row, 'dump'),
    })),
  absent: [],
};

export const dumps: Question<readonly string[]> = {
  id: 'dumps',
  sql: () =>
    "SELECT DISTINCT a.datname FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE a.application_name = 'pg_dump' AND l.mode = 'AccessShareLock' AND l.granted AND l.relation >= 16384",
  decode: (rows) => rows.map((row) => text(row, 'datname')),
  absent: [],
};

const names = [
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
const listed = names.map((name) => `'${name}'`).join(', ');

export const settings: Question<ReadonlyMap<string, Setting>> = {
  id: 'settings',
  sql: () => `SELECT name, reset_val, pending_restart FROM pg_settings WHERE name IN (${listed})`,
  decode: (rows) =>
    new Map(
      rows.map((row) => [
        text(row, 'name'),
        { value: text(row, 'reset_val'), pendingRestart: truth(row, 'pending_restart'), inFile: undefined },
      ]),
    ),
  absent: new Map(),
};

/** The files as they are now: ALTER SYSTEM shows here before anybody reloads. */
export const files: Question<ReadonlyMap<string, string>> = {
  id: 'files',
  sql: () =>
    `SELECT DISTINCT ON (name) name, setting FROM pg_file_settings WHERE name IN (${listed}) ORDER BY name, seqno DESC`,
  decode: (rows) => new Map(rows.map((row) => [text(row, 'name'), text(row, 'setting')])),
  absent: new Map(),
};

export const hostRules: Question<string | undefined> = {
  id: 'host-rules',
  sql: () =>
    "SELECT md5(string_agg(concat_ws('|', type, database, user_name, address, netmask, auth_method, options, error), ',' ORDER BY line_number)) AS hash FROM pg_hba_file_rules",
  decode: ([row]) => textOrNone(row, 'hash'),
  absent: undefined,
};

export const role: Question<
  | { name: string; superuser: boolean; replication: boolean; login: boolean; secondsLeft: number | undefined }
  | undefined
> = {
  id: 'role',
  sql: () =>
    'SELECT rolname, rolsuper, rolreplication, rolcanlogin, CASE WHEN isfinite(rolvaliduntil) THEN floor(extract(epoch FROM rolvaliduntil - now())) END AS seconds_left FROM pg_roles WHERE rolname = current_user',
  decode: ([row]) => ({
    name: text(row, 'rolname'),
    superuser: truth(row, 'rolsuper'),
    replication: truth(row, 'rolreplication'),
    login: truth(row, 'rolcanlogin'),
    secondsLeft: wholeOrNone(row, 'seconds_left'),
  }),
  absent: undefined,
};

/** The version of the role's row: it tells that a password was changed without telling anything of the password. */
export const revision: Question<string | undefined> = {
  id: 'revision',
  sql: () => 'SELECT xmin::text AS revision FROM pg_authid WHERE rolname = current_user',
  decode: ([row]) => textOrNone(row, 'revision'),
  absent: undefined,
};

export const traffic: Question<readonly Traffic[]> = {
  id: 'traffic',
  sql: () =>
    'SELECT d.datname, s.xact_commit, s.xact_rollback FROM pg_database d LEFT JOIN pg_stat_database s ON s.datid = d.oid WHERE d.datallowconn AND NOT d.datistemplate ORDER BY d.datname',
  decode: (rows) =>
    rows.map((row) => ({
      name: text(row, 'datname'),
      commits: whole(row, 'xact_commit'),
      rollbacks: whole(row, 'xact_rollback'),
    })),
  absent: [],
};

export const blocked: Question<{ commits: number; seconds: number }> = {
  id: 'blocked',
  sql: () =>
    "SELECT count(*) AS commits, coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0) AS seconds FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
  decode: ([row]) => ({ commits: whole(row, 'commits'), seconds: whole(row, 'seconds') }),
  absent: { commits: 0, seconds: 0 },
};
