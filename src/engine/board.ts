import type { StopReason } from './job.ts';
import { isOver, isSyncing, type Leftover, type MigrationState, methodOf, type Progress, shown } from './state.ts';

/** Where the engine writes how things stand. */
export interface Board {
  readonly databases: Progress[];
  readonly leftovers: Leftover[];
  /** Of the whole server. */
  readonly warnings: string[];
  /** Why nothing could be begun. */
  failure: string | undefined;
  /** Why it was ended; undefined: nobody has. */
  stopReason: StopReason | undefined;
  isOver: boolean;
}

export function newBoard(): Board {
  return { databases: [], leftovers: [], warnings: [], failure: undefined, stopReason: undefined, isOver: false };
}

export function readBoard(board: Board): MigrationState {
  const { status, reason } = verdict(board);
  return {
    status,
    reason,
    method: methodOf(board.databases),
    databases: board.databases.map(shown),
    warnings: [...board.warnings],
    leftovers: [...board.leftovers],
  };
}

function verdict(board: Board): Pick<MigrationState, 'status' | 'reason'> {
  const { databases, stopReason, failure } = board;
  if (stopReason !== undefined) return { status: 'canceled', reason: stopReason };
  if (failure !== undefined) return { status: 'error', reason: failure };
  const failed = databases.filter(({ error }) => error !== undefined);
  const reasons = failed.map(({ name, error }) => `${name}: ${error}`).join('; ');
  const reason = reasons === '' ? undefined : reasons;
  // A database that failed does not end the others; when the last has ended, the failure is what remains.
  if (databases.length > 0 && databases.every(isOver)) return { status: failed.length > 0 ? 'error' : 'done', reason };
  return { status: isSyncing(databases) ? 'syncing' : 'running', reason };
}
