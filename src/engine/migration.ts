import { type Board, newBoard, readBoard } from './board.ts';
import type { EnginePorts, MigrationJob, StopReason } from './job.ts';
import { runPostgres } from './postgresql/run.ts';
import { runRedis } from './redis/run.ts';
import type { Leftover, MigrationState } from './state.ts';
import { reasonOf } from './words.ts';

export interface Migration {
  state(): MigrationState;
  /** Ends it, removes what was made on source and target, keeps the data. Resolves with what could not be removed. */
  stop(reason?: StopReason): Promise<readonly Leftover[]>;
  /** How it ended; never rejects. */
  readonly ended: Promise<MigrationState>;
}

/**
 * Begins to move a database; nothing has been tried yet when it returns.
 * @param after nothing is tried before it settles
 */
export function startMigration(job: MigrationJob, ports: EnginePorts, after?: Promise<unknown>): Migration {
  const board = newBoard();
  const stopping = new AbortController();
  const stop = (reason: StopReason) => {
    if (board.isOver || stopping.signal.aborted) return;
    board.stopReason = reason;
    stopping.abort(new DOMException(reason, 'AbortError'));
  };
  const ended = run(job, ports, { board, stop: stopping.signal, after }).then(() => readBoard(board));
  const over = new AbortController();
  void ended.then(() => over.abort());
  void watchDeadline(job, ports, over.signal, stop);
  return {
    state: () => readBoard(board),
    async stop(reason = 'stopped_by_user') {
      stop(reason);
      return (await ended).leftovers;
    },
    ended,
  };
}

interface Course {
  readonly board: Board;
  readonly stop: AbortSignal;
  readonly after: Promise<unknown> | undefined;
}

async function run(job: MigrationJob, ports: EnginePorts, { board, stop, after }: Course): Promise<void> {
  await after?.catch(() => {});
  try {
    stop.throwIfAborted();
    await (job.engine === 'postgresql' ? runPostgres(job, ports, board, stop) : runRedis(job, ports, board, stop));
  } catch (error) {
    if (!stop.aborted) board.failure = reasonOf(error, job.source.password, job.target.password);
  }
  board.isOver = true;
}

/** spec §8, told by the virtual clock, which may jump: so it is looked at again and again. */
async function watchDeadline(
  job: MigrationJob,
  ports: EnginePorts,
  over: AbortSignal,
  stop: (reason: StopReason) => void,
): Promise<void> {
  while (!over.aborted) {
    if (ports.now() >= job.deadline) return stop('max_duration');
    await ports.sleep(ports.waits.poll, over).catch(() => {});
  }
  return undefined;
}
