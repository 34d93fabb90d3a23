import { MigrationError } from '../migration-error.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { PostgresJournalEntry } from '../migration-journal.ts';
import type { DatabaseProgress } from '../migration-state.ts';
import { holdPostgresSession } from './engine-session.ts';
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
  readonly tower: SourcePoller;
  readonly ports: EngineDependencies;
  /** Ends it; what was being asked is given up. */
  readonly signal: AbortSignal;
}

/** Watches one database replicate, until the signal. Rejects when it cannot go on. */
export async function replicateDatabase(
  { entry, targetVersion, tower, ports, signal }: ReplicationOptions,
  progress: DatabaseProgress,
): Promise<void> {
  const target = holdPostgresSession(entry.target, ports, { name: engineApplicationName, signal });
  const judge = createPollRecorder(ports, progress);
  tower.addSlot(entry.name);
  try {
    while (!signal.aborted) {
      const source = await tower.poll();
      const look = await target.run((session) => readTargetStatus(session, entry.name, targetVersion));
      const slot = source?.slots.get(entry.name);
      if (source !== undefined && (slot === undefined || slot.lost)) {
        throw new MigrationError(`the replication slot ${entry.name} is ${slot === undefined ? 'gone' : 'lost'}`);
      }
      if (source !== undefined && slot !== undefined && look !== undefined) judge(source, slot, look);
      await ports.sleep(ports.limits.pollInterval, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await target.close();
  }
}

type RecordPoll = (source: SourceReplicationStatus, slot: SlotReplicationStatus, look: TargetReplicationStatus) => void;

/** Writes down what was seen, and how long nothing has been left to replicate. */
function createPollRecorder({ now, limits: waits }: EngineDependencies, progress: DatabaseProgress): RecordPoll {
  let position: string | undefined;
  let latest: SourceReplicationStatus | undefined;
  let failures: number | undefined;
  return (source, slot, look) => {
    const isReady = look.tables.every(({ stage }) => stage === 'r');
    progress.tables = look.tables;
    progress.lagBytes = slot.lagBytes;
    progress.phase = isReady ? 'streaming' : 'copying';
    failures ??= look.failures;
    warnOfFailures(progress, (look.failures ?? 0) - (failures ?? 0));
    if (!isReady || !slot.caughtUp || look.position !== position) {
      position = look.position;
      progress.idleSince = undefined;
      progress.idleLooks = 0;
    } else if (source !== latest) {
      progress.idleSince ??= now();
      // The clock may jump: what was written before the jump is only seen by the look after the next.
      progress.idleLooks = now() - progress.idleSince >= waits.idleTime ? progress.idleLooks + 1 : 0;
    }
    latest = source;
  };
}

function warnOfFailures(progress: DatabaseProgress, failures: number): void {
  const note = 'the workers of the target fail and try again; its log says why';
  if (failures > 0 && !progress.warnings.includes(note)) progress.warnings.push(note);
}

/** Nothing was left to replicate for as long as it takes, and a look after that has found it so. */
export function isReplicationIdle({ idleLooks }: Pick<DatabaseProgress, 'idleLooks'>): boolean {
  return idleLooks >= 2;
}
