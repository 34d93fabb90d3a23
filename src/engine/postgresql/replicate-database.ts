import { MigrationError } from '../migration-error.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { PostgresJournalEntry } from '../migration-journal.ts';
import type { DatabaseProgress } from '../migration-state.ts';
import { openReconnectingSession } from './engine-session.ts';
import { engineApplicationName } from './object-names.ts';
import {
  readTargetStatus,
  type SlotReplicationStatus,
  type SourceReplicationStatus,
  type TargetReplicationStatus,
} from './replication-status.ts';
import type { SourcePoller } from './source-poller.ts';

export interface ReplicationOptions {
  readonly entry: PostgresJournalEntry;
  readonly targetVersion: number;
  readonly poller: SourcePoller;
  readonly deps: EngineDependencies;
  /** Ends replication and aborts a running query. */
  readonly signal: AbortSignal;
}

/** Polls source and target of one database until the signal is aborted. Rejects when replication cannot continue. */
export async function replicateDatabase(
  { entry, targetVersion, poller, deps, signal }: ReplicationOptions,
  progress: DatabaseProgress,
): Promise<void> {
  const target = openReconnectingSession(entry.target, deps, { name: engineApplicationName, signal });
  const recordPoll = createPollRecorder(deps, progress);
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
      if (source !== undefined && slot !== undefined && status !== undefined) recordPoll(source, slot, status);
      await deps.sleep(deps.limits.pollInterval, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await target.close();
  }
}

type RecordPoll = (
  source: SourceReplicationStatus,
  slot: SlotReplicationStatus,
  status: TargetReplicationStatus,
) => void;

/** Records the result of each poll, and since when nothing is left to replicate. */
function createPollRecorder({ now, limits }: EngineDependencies, progress: DatabaseProgress): RecordPoll {
  let position: string | undefined;
  let latest: SourceReplicationStatus | undefined;
  let failures: number | undefined;
  return (source, slot, status) => {
    const isReady = status.tables.every(({ stage }) => stage === 'r');
    progress.tables = status.tables;
    progress.lagBytes = slot.lagBytes;
    progress.phase = isReady ? 'streaming' : 'copying';
    failures ??= status.failures;
    warnOfFailures(progress, (status.failures ?? 0) - (failures ?? 0));
    if (!isReady || !slot.caughtUp || status.position !== position) {
      position = status.position;
      progress.idleSince = undefined;
      progress.idlePolls = 0;
    } else if (source !== latest) {
      progress.idleSince ??= now();
      // The virtual clock may jump. Changes written before the jump show up only in the poll after the next one.
      progress.idlePolls = now() - progress.idleSince >= limits.idleTime ? progress.idlePolls + 1 : 0;
    }
    latest = source;
  };
}

function warnOfFailures(progress: DatabaseProgress, failures: number): void {
  const note = 'replication workers of the target fail and retry: see the log of the target';
  if (failures > 0 && !progress.warnings.includes(note)) progress.warnings.push(note);
}

/** True after two polls past the idle time that found nothing to replicate. */
export function isReplicationIdle({ idlePolls }: Pick<DatabaseProgress, 'idlePolls'>): boolean {
  return idlePolls >= 2;
}
