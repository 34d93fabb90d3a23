import type { StopReason } from './migration-job.ts';
import {
  areAllStreaming,
  combinedMethod,
  type DatabaseProgress,
  hasEnded,
  type LeftoverObject,
  type MigrationState,
  toDatabaseState,
} from './migration-state.ts';

/** Where the engine writes how things stand. */
export interface MigrationProgress {
  readonly databases: DatabaseProgress[];
  readonly leftovers: LeftoverObject[];
  /** Of the whole server. */
  readonly warnings: string[];
  /** Why nothing could be begun. */
  failure: string | undefined;
  /** Why it was ended; undefined: nobody has. */
  stopReason: StopReason | undefined;
  isOver: boolean;
}

export function createMigrationProgress(): MigrationProgress {
  return { databases: [], leftovers: [], warnings: [], failure: undefined, stopReason: undefined, isOver: false };
}

export function toMigrationState(board: MigrationProgress): MigrationState {
  const { status, reason } = overallStatus(board);
  return {
    status,
    reason,
    method: combinedMethod(board.databases),
    databases: board.databases.map(toDatabaseState),
    warnings: [...board.warnings],
    leftovers: [...board.leftovers],
  };
}

function overallStatus(board: MigrationProgress): Pick<MigrationState, 'status' | 'reason'> {
  const { databases, stopReason, failure } = board;
  if (stopReason !== undefined) return { status: 'canceled', reason: stopReason };
  if (failure !== undefined) return { status: 'error', reason: failure };
  const failed = databases.filter(({ error }) => error !== undefined);
  const reasons = failed.map(({ name, error }) => `${name}: ${error}`).join('; ');
  const reason = reasons === '' ? undefined : reasons;
  // A database that failed does not end the others; when the last has ended, the failure is what remains.
  if (databases.length > 0 && databases.every(hasEnded))
    return { status: failed.length > 0 ? 'error' : 'done', reason };
  return { status: areAllStreaming(databases) ? 'syncing' : 'running', reason };
}
