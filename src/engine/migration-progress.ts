import type { StopReason } from './migration-job.ts';
import {
  areAllStreaming,
  type DatabaseProgress,
  hasMigrationEnded,
  type LeftoverObject,
  type MigrationState,
  methodOfAllDatabases,
  toDatabaseState,
} from './migration-state.ts';

/** The state of a running migration, as the engine updates it. */
export interface MigrationProgress {
  readonly databases: DatabaseProgress[];
  readonly leftovers: LeftoverObject[];
  /** Warnings about the whole server. */
  readonly warnings: string[];
  /** Why the migration could not start. */
  failure: string | undefined;
  /** Why it was stopped; undefined: it was not stopped. */
  stopReason: StopReason | undefined;
  isOver: boolean;
}

export function createMigrationProgress(): MigrationProgress {
  return { databases: [], leftovers: [], warnings: [], failure: undefined, stopReason: undefined, isOver: false };
}

export function toMigrationState(progress: MigrationProgress): MigrationState {
  const { status, reason } = overallStatus(progress);
  return {
    status,
    reason,
    method: methodOfAllDatabases(progress.databases),
    databases: progress.databases.map(toDatabaseState),
    warnings: [...progress.warnings],
    leftovers: [...progress.leftovers],
  };
}

function overallStatus(progress: MigrationProgress): Pick<MigrationState, 'status' | 'reason'> {
  const { databases, stopReason, failure } = progress;
  if (stopReason !== undefined) return { status: 'canceled', reason: stopReason };
  if (failure !== undefined) return { status: 'error', reason: failure };
  const failed = databases.filter(({ error }) => error !== undefined);
  const reasons = failed.map(({ name, error }) => `${name}: ${error}`).join('; ');
  const reason = reasons === '' ? undefined : reasons;
  // A failed database does not stop the others. Once all have ended, one failure makes the whole migration fail.
  if (databases.length > 0 && databases.every(hasMigrationEnded))
    return { status: failed.length > 0 ? 'error' : 'done', reason };
  return { status: areAllStreaming(databases) ? 'syncing' : 'running', reason };
}
