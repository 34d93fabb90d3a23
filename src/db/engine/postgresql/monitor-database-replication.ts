import { type DatabaseMigrationProgress, recordDatabaseMigrationOutage } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { MigrationError, redactErrorReason } from '../migration-error.ts';
import type { PostgresMigrationCleanupEntry } from '../migration-journal.ts';
import { createReplicationApplyObstacleFinder } from './apply-obstacle.ts';
import { openReconnectingPostgresSession } from './engine-session.ts';
import { createPublicationExistenceCheck } from './publication-existence-check.ts';
import { migrationEngineApplicationName } from './replication-object-names.ts';
import {
  type PostgresqlSourceReplicationStatus,
  type PostgresqlTargetReplicationStatus,
  readPostgresqlTargetReplicationStatus,
  type SlotReplicationStatus,
} from './replication-status.ts';
import type { SourceSlotPoller } from './source-slot-poller.ts';

export interface MonitorPostgresqlReplicationOptions {
  readonly entry: PostgresMigrationCleanupEntry;
  readonly targetVersion: number;
  readonly poller: SourceSlotPoller;
  readonly deps: MigrationEngineDependencies;
  /** When aborted, the replication ends, and a running query is aborted. */
  readonly signal: AbortSignal;
}

/** Polls source and target of one database until the signal is aborted. Rejects if the replication cannot continue. */
export async function monitorPostgresqlReplication(
  { entry, targetVersion, poller, deps, signal }: MonitorPostgresqlReplicationOptions,
  progress: DatabaseMigrationProgress,
): Promise<void> {
  const target = openReconnectingPostgresSession(entry.target, deps, { name: migrationEngineApplicationName, signal });
  const recordPoll = createPollRecorder(deps, progress);
  const isPublicationMissing = createPublicationExistenceCheck(entry, deps, signal);
  const findObstacle = createReplicationApplyObstacleFinder(entry.name, deps.limits.obstacleDelay);
  const describe = (error: unknown) => redactErrorReason(error, entry.source.password, entry.target.password);
  poller.addSlot(entry.name);
  try {
    while (!signal.aborted) {
      const source = await poller.poll();
      const status = await target.run((session) =>
        readPostgresqlTargetReplicationStatus(session, entry.name, targetVersion),
      );
      const slot = source?.slots.get(entry.name);
      if (source !== undefined && (slot === undefined || slot.lost)) {
        throw new MigrationError(
          `the replication slot ${entry.name} ${slot === undefined ? 'does not exist any more' : 'is lost'}`,
        );
      }
      if (source === undefined || slot === undefined) {
        recordDatabaseMigrationOutage(
          progress,
          'source_unreachable',
          `could not reach the source: ${describe(poller.outage())}`,
        );
      } else if (status === undefined) {
        recordDatabaseMigrationOutage(
          progress,
          'target_unreachable',
          `could not reach the target: ${describe(target.outage())}`,
        );
      } else {
        recordPoll(source, slot, status);
        const obstacle = await findObstacle({ slot, position: status.position, target });
        if (obstacle !== undefined) recordDatabaseMigrationOutage(progress, 'apply_stopped', describe(obstacle));
        if (await isPublicationMissing(slot))
          recordDatabaseMigrationOutage(progress, 'publication_missing', publicationMissing(entry.name));
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
  return `the publication ${name} does not exist on the source any more, so changes are not replicated: stop the migration and start it again`;
}

type RecordPoll = (
  source: PostgresqlSourceReplicationStatus,
  slot: SlotReplicationStatus,
  status: PostgresqlTargetReplicationStatus,
) => void;

/** Records the result of each poll, and the time since which nothing is left to replicate. */
function createPollRecorder(
  { now, limits }: MigrationEngineDependencies,
  progress: DatabaseMigrationProgress,
): RecordPoll {
  let position: string | undefined;
  let latest: PostgresqlSourceReplicationStatus | undefined;
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
  { warnings }: DatabaseMigrationProgress,
  memory: number,
): (slot: SlotReplicationStatus, status: PostgresqlTargetReplicationStatus) => void {
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
export function isReplicationIdle({ idlePolls }: Pick<DatabaseMigrationProgress, 'idlePolls'>): boolean {
  return idlePolls >= 2;
}
