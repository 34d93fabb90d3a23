import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { lastReplicationError } from '../../../postgresql/replication-log.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { MigrationError, redactReason } from '../error.ts';
import type { EngineSystem } from '../input.ts';
import type { PostgresEntry } from '../journal.ts';
import type { Reconnecting } from '../session.ts';
import { type DatabaseProgress, recordOutage } from '../state.ts';
import type { SlotPoller } from './context.ts';
import { engineName } from './names.ts';
import { lastRows, openPostgresSession, singleValue, withSession } from './session.ts';
import { readTargetStatus, type SlotStatus, type SourceStatus, type TargetStatus } from './status.ts';

interface MonitorPostgresqlReplicationOptions {
  readonly entry: PostgresEntry;
  readonly targetVersion: number;
  readonly poller: SlotPoller;
  readonly deps: EngineSystem;
  /** When aborted, the replication ends, and a running query is aborted. */
  readonly signal: AbortSignal;
}

/** Polls source and target of one database until the signal is aborted. Rejects if the replication cannot continue. */
export async function monitorReplication(
  { entry, targetVersion, poller, deps, signal }: MonitorPostgresqlReplicationOptions,
  progress: DatabaseProgress,
): Promise<void> {
  const target = openPostgresSession(entry.target, deps, { name: engineName, signal });
  const recordPoll = createPollRecorder(deps, progress);
  const isPublicationMissing = createPublicationExistenceCheck(entry, deps, signal);
  const findObstacle = createReplicationApplyObstacleFinder(entry.name, deps.limits.obstacleDelay);
  const describe = (error: unknown) => redactReason(error, entry.source.password, entry.target.password);
  poller.addSlot(entry.name);
  try {
    while (!signal.aborted) {
      const source = await poller.poll();
      const status = await target.run((session) => readTargetStatus(session, entry.name, targetVersion));
      const slot = source?.slots.get(entry.name);
      if (source !== undefined && (slot === undefined || slot.lost)) {
        throw new MigrationError(
          `the replication slot ${entry.name} ${slot === undefined ? 'does not exist any more' : 'is lost'}`,
        );
      }
      if (source === undefined || slot === undefined) {
        recordOutage(progress, 'source_unreachable', `could not reach the source: ${describe(poller.outage())}`);
        progress.lagBytes = undefined;
      } else if (status === undefined) {
        recordOutage(progress, 'target_unreachable', `could not reach the target: ${describe(target.outage())}`);
        progress.lagBytes = slot.lagBytes;
      } else {
        recordPoll(source, slot, status);
        const obstacle = await findObstacle({ slot, position: status.position, target });
        if (obstacle !== undefined) recordOutage(progress, 'apply_stopped', describe(obstacle));
        if (await isPublicationMissing(slot))
          recordOutage(progress, 'publication_missing', publicationMissing(entry.name));
      }
      await deps.sleep(deps.limits.pollInterval, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await target.close();
  }
}

function publicationMissing(name: string): string {
  return `the publication ${name} does not exist on the source any more, so changes are not replicated: stop the migration, empty the target, and start it again`;
}

type RecordPoll = (source: SourceStatus, slot: SlotStatus, status: TargetStatus) => void;

/** Records the result of each poll, and the time since which nothing is left to replicate. */
function createPollRecorder({ now, limits }: EngineSystem, progress: DatabaseProgress): RecordPoll {
  let position: string | undefined;
  let latest: SourceStatus | undefined;
  const showFailures = createFailureWarning(progress, limits.failureMemory);
  return (source, slot, status) => {
    const isReady = status.tables.every(({ stage }) => stage === 'r');
    progress.tables = status.tables;
    progress.lagBytes = slot.lagBytes;
    progress.phase = isReady ? 'streaming' : 'copying';
    progress.reason = undefined;
    progress.isCopied = isReady;
    showFailures(slot, status);
    if (!isReady || !slot.caughtUp || status.position !== position) {
      position = status.position;
      progress.idleSince = undefined;
      progress.idlePolls = 0;
    } else if (source !== latest) {
      progress.idleSince ??= now();
      // The virtual clock of the sandbox may jump. Changes that were written before a jump of the clock are visible
      // only in the second poll after it.
      progress.idlePolls = now() - progress.idleSince >= limits.idleTime ? progress.idlePolls + 1 : 0;
    }
    latest = source;
  };
}

/** Shows a warning while replication workers fail or are missing, and removes the warning afterwards. */
function createFailureWarning(
  { warnings }: DatabaseProgress,
  memory: number,
): (slot: SlotStatus, status: TargetStatus) => void {
  const note = 'replication workers of the target fail and retry: see the log of the target';
  let failures: number | undefined;
  let failedAt: number | undefined;
  let inactivePolls = 0;
  return ({ active }, status) => {
    if (status.failures !== undefined && failures !== undefined && status.failures > failures) {
      failedAt = performance.now();
    }
    failures = status.failures;
    // A failing replication worker is connected only for milliseconds, every few seconds.
    inactivePolls = active ? 0 : inactivePolls + 1;
    const isRecent = failedAt !== undefined && performance.now() - failedAt < memory;
    const at = warnings.indexOf(note);
    if (isRecent || inactivePolls >= maxInactivePolls) {
      if (at === -1) warnings.push(note);
    } else if (at !== -1) warnings.splice(at, 1);
  };
}

const maxInactivePolls = 10;

/** Whether at least two polls after the idle time found nothing left to replicate. */
export function isIdle({ idlePolls }: Pick<DatabaseProgress, 'idlePolls'>): boolean {
  return idlePolls >= 2;
}

/**
 * Returns why a target database receives no changes although the source has some. The target is queried only if the
 * database has received nothing for some time.
 */
type FindReplicationApplyObstacle = (poll: {
  readonly slot: SlotStatus;
  readonly position: string;
  readonly target: Reconnecting<SafeSession>;
}) => Promise<string | undefined>;

function createReplicationApplyObstacleFinder(name: string, delay: number): FindReplicationApplyObstacle {
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
  session: SafeSession,
  name: string,
  isConnected: boolean,
): Promise<string | undefined> {
  const [row] = await lastRows(
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
  if (error === undefined) {
    if (isConnected) return undefined;
    return timeout === undefined
      ? 'the replication worker of the target does not run, or fails at once: see the log of the target'
      : `the ${timeout}`;
  }
  return `the target fails to apply changes: ${error}${/timeout/.test(error) ? cause : ''}`;
}

/** The last error in the log of the target; undefined if the target has no log file, or this role cannot read the log. */
async function readLastError(session: SafeSession): Promise<string | undefined> {
  try {
    const [row] = await lastRows(
      session,
      `SELECT encode(pg_read_binary_file(f.name, greatest(0, (pg_stat_file(f.name)).size - ${logBytes}), ${logBytes}), 'base64') AS log
      FROM pg_current_logfile('stderr') f(name) WHERE f.name IS NOT NULL`,
    );
    return row?.log == null ? undefined : lastReplicationError(Buffer.from(row.log, 'base64').toString('utf8'));
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    return undefined;
  }
}

const logBytes = 65_536;

/**
 * Returns a function that every poll of a database calls to find out whether the publication is missing. Most calls
 * return the previous result, because each query needs a session in that database of the source. A slot in use does not
 * prove that the publication exists: without the publication PostgreSQL 18 continues, but replicates nothing.
 */
function createPublicationExistenceCheck(
  { name, source }: PostgresEntry,
  deps: EngineSystem,
  signal: AbortSignal,
): (slot: Pick<SlotStatus, 'active'>) => Promise<boolean> {
  let isMissing = false;
  let pollsSinceLook = 0;
  return async ({ active }) => {
    pollsSinceLook += 1;
    if (pollsSinceLook < (active && !isMissing ? pollsWhileActive : pollsWhileInactive)) return isMissing;
    pollsSinceLook = 0;
    const query = `SELECT count(*) FROM pg_publication WHERE pubname = ${quoteLiteral(name)}`;
    try {
      const count = await withSession(source, deps, { name: engineName, signal }, (session) =>
        singleValue(session, query),
      );
      isMissing = count === '0';
    } catch {
      // The poll of the slots reports an outage of the source.
    }
    return isMissing;
  };
}

const pollsWhileActive = 15;
const pollsWhileInactive = 3;
