import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { findLastReplicationErrorInLog } from '../../../postgresql/replication-log.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { ReconnectingServerSession } from '../reconnecting-server-session.ts';
import { queryLastRows } from './engine-session.ts';
import type { SlotReplicationStatus } from './replication-status.ts';

/**
 * Returns why a target database receives no changes although the source has some. The target is queried only if the
 * database has received nothing for some time.
 */
export type FindReplicationApplyObstacle = (poll: {
  readonly slot: SlotReplicationStatus;
  readonly position: string;
  readonly target: ReconnectingServerSession<SearchPathSafeSession>;
}) => Promise<string | undefined>;

export function createReplicationApplyObstacleFinder(name: string, delay: number): FindReplicationApplyObstacle {
  let position: string | undefined;
  let since = performance.now();
  let askedAt = Number.NEGATIVE_INFINITY;
  let found: string | undefined;
  return async ({ slot, position: current, target }) => {
    const now = performance.now();
    if (current !== position || slot.lagBytes === 0) {
      position = current;
      since = now;
      found = undefined;
    }
    if (now - since < delay) return undefined;
    if (now - askedAt < delay) return found;
    askedAt = now;
    found = await target.run((session) => readApplyObstacle(session, name, slot.active));
    return found;
  };
}

/**
 * Why a subscription applies nothing, as the target shows it now; undefined if the target does not show the reason. The
 * text may contain a line of the log of the target, with values of a key.
 * @param isConnected the worker is running, so the last error in the log is an old one
 */
async function readApplyObstacle(
  session: SearchPathSafeSession,
  name: string,
  isConnected: boolean,
): Promise<string | undefined> {
  const [row] = await queryLastRows(
    session,
    `SELECT pg_is_in_recovery() AS standby, s.subenabled AS enabled, l.pid, l.relation, l.holder, t.setting AS timeout,
      (SELECT o.rolname FROM pg_roles o WHERE o.oid = s.subowner) AS owner
    FROM pg_subscription s
    LEFT JOIN LATERAL (
      SELECT k.pid, n.nspname || '.' || c.relname AS relation, (pg_blocking_pids(k.pid))[1] AS holder
      FROM pg_stat_subscription w JOIN pg_locks k ON k.pid = w.pid AND NOT k.granted
      LEFT JOIN pg_class c ON c.oid = k.relation LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE w.subid = s.oid LIMIT 1
    ) l ON true
    LEFT JOIN LATERAL (
      SELECT u.setting FROM pg_db_role_setting r, unnest(r.setconfig) AS u(setting)
      WHERE r.setrole IN (0, s.subowner) AND r.setdatabase IN (0, s.subdbid) AND u.setting ~ '^(lock|statement)_timeout=0*[1-9]' LIMIT 1
    ) t ON true
    WHERE s.subname = ${quoteLiteral(name)}`,
  );
  if (row === undefined) return undefined;
  if (row.standby === 't') return 'the target is read-only: it is in recovery, as a standby';
  if (row.enabled === 'f') return `the subscription ${name} is disabled`;
  const timeout = row.timeout == null ? undefined : `role "${row.owner}" has ${row.timeout}`;
  // The worker ends at the timeout and starts to wait again, so most polls find it waiting.
  const cause = timeout === undefined ? '' : ` (${timeout})`;
  if (row.pid != null)
    return `the replication worker waits for a lock on ${row.relation ?? 'a row'}, held by process ${row.holder ?? 'unknown'} of the target${cause}`;
  const error = isConnected ? undefined : await readLastError(session);
  if (error === undefined) return timeout === undefined || isConnected ? undefined : `the ${timeout}`;
  return `the target fails to apply changes: ${error}${/timeout/.test(error) ? cause : ''}`;
}

/** The last error in the log of the target; undefined if the target has no log file, or this role cannot read the log. */
async function readLastError(session: SearchPathSafeSession): Promise<string | undefined> {
  try {
    const [row] = await queryLastRows(
      session,
      `SELECT encode(pg_read_binary_file(f.name, greatest(0, (pg_stat_file(f.name)).size - ${logBytes}), ${logBytes}), 'base64') AS log
      FROM pg_current_logfile('stderr') f(name) WHERE f.name IS NOT NULL`,
    );
    return row?.log == null
      ? undefined
      : findLastReplicationErrorInLog(Buffer.from(row.log, 'base64').toString('utf8'));
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.lost) throw error;
    return undefined;
  }
}

const logBytes = 65_536;
