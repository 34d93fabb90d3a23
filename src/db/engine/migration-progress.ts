import {
  areAllDatabasesStreaming,
  type DatabaseMigrationProgress,
  determineOverallTransferMethod,
  type EngineMigrationState,
  hasDatabaseMigrationEnded,
  type MigrationLeftoverObject,
  snapshotDatabaseMigrationProgress,
} from './engine-migration-state.ts';
import type { MigrationStopReason } from './migration-engine-input.ts';

/** The state of a running migration, as the engine updates it. */
export interface MigrationProgress {
  readonly databases: DatabaseMigrationProgress[];
  readonly leftovers: MigrationLeftoverObject[];
  /** Warnings about the whole source or target server. */
  readonly warnings: string[];
  /** Why the migration could not start. */
  failure: string | undefined;
  /** Why the migration was told to stop; undefined if it was not. */
  stopReason: MigrationStopReason | undefined;
  isOver: boolean;
}

export function createEmptyMigrationProgress(): MigrationProgress {
  return { databases: [], leftovers: [], warnings: [], failure: undefined, stopReason: undefined, isOver: false };
}

export function snapshotMigrationProgress(progress: MigrationProgress): EngineMigrationState {
  const { status, reason } = overallStatus(progress);
  return {
    status,
    reason,
    method: determineOverallTransferMethod(progress.databases),
    databases: progress.databases.map(snapshotDatabaseMigrationProgress),
    warnings: [...progress.warnings],
    leftovers: [...progress.leftovers],
  };
}

function overallStatus(progress: MigrationProgress): Pick<EngineMigrationState, 'status' | 'reason'> {
  const { databases, stopReason, failure, isOver } = progress;
  // A database that is finishing still has its slot on the source, and the target lacks data.
  const hasEnded = isOver || (databases.length > 0 && databases.every(hasDatabaseMigrationEnded));
  if (stopReason !== undefined && hasEnded) return { status: 'canceled', reason: stopReason };
  if (failure !== undefined) return { status: 'error', reason: failure };
  const reasons = databases.flatMap(({ name, error, reason }) => {
    const text = error ?? reason;
    return text === undefined ? [] : [`${name}: ${text}`];
  });
  const reason = stopReason ?? (reasons.length === 0 ? undefined : reasons.join('; '));
  // Databases without tables, such as postgres, do not count for the method, because they say nothing about the other
  // databases.
  const withTables = databases.filter(({ hasTables }) => hasTables !== false);
  const counted = withTables.length === 0 ? databases : withTables;
  // A failed database does not stop the others. The status is that of the worst database when all have ended.
  if (hasEnded) return { status: counted.some(({ error }) => error !== undefined) ? 'error' : 'done', reason };
  const active = counted.every(hasDatabaseMigrationEnded) ? databases : counted;
  return { status: areAllDatabasesStreaming(active) ? 'syncing' : 'running', reason };
}
