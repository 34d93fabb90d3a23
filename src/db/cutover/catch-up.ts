import type { Clock } from '../../platform/host.ts';
import type { EngineRun } from '../engine/engine.ts';
import { allStreaming, type EngineState, type TableSyncState } from '../engine/state.ts';

export interface RehearsalCatchUpResult {
  /**
   * Result of the wait. `arrived`: all tables are replicated; `over`: the migration ended; `stuck`: no progress within
   * the stall timeout.
   */
  readonly kind: 'arrived' | 'over' | 'stuck';
  /** Seconds until each database was replicated, or until its migration ended. */
  readonly seconds: ReadonlyMap<string, number>;
}

export interface RehearsalCatchUpOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds between two polls of the migration. */
  readonly poll: number;
  /** Milliseconds without progress of the copy after which the wait ends. */
  readonly stallTimeout: number;
  readonly onState?: (state: EngineState) => void;
}

/** Waits until every table of every running database is replicated. Rejects when the signal aborts. */
export async function waitForRehearsalCatchUp(
  migration: EngineRun,
  { clock, signal, poll, stallTimeout, onState }: RehearsalCatchUpOptions,
): Promise<RehearsalCatchUpResult> {
  const startedAt = clock.now();
  const seconds = new Map<string, number>();
  const isProgress = createProgressTracker();
  let progressAt = startedAt;
  for (;;) {
    signal.throwIfAborted();
    const state = migration.state();
    onState?.(state);
    const now = clock.now();
    for (const { name, phase } of state.databases) {
      if (!seconds.has(name) && settledPhases.has(phase)) seconds.set(name, (now - startedAt) / 1000);
    }
    if (isOver(state)) return { kind: 'over', seconds };
    // While a dump finishes, its status is syncing, but its rows can be compared only after it has ended.
    const isFinishing = state.databases.some(({ phase }) => phase === 'finishing');
    if (allStreaming(state.databases) && !isFinishing) return { kind: 'arrived', seconds };
    if (isProgress(state)) progressAt = now;
    if (now - progressAt >= stallTimeout) {
      for (const { name } of state.databases) if (!seconds.has(name)) seconds.set(name, (now - startedAt) / 1000);
      return { kind: 'stuck', seconds };
    }
    await clock.sleep(poll, signal);
  }
}

function isOver({ status }: EngineState): boolean {
  return status !== 'running' && status !== 'syncing';
}

const settledPhases: ReadonlySet<string> = new Set(['streaming', 'done', 'stopped', 'error']);

/** Detects progress beyond the best state so far, so that a copy which fails and restarts makes no progress. */
function createProgressTracker(): (state: EngineState) => boolean {
  const stages: readonly TableSyncState[] = ['i', 'd', 'f', 's', 'r'];
  const best = new Map<string, number>();
  return ({ databases }) => {
    let hasProgress = false;
    const note = (key: string, value: number) => {
      if (value <= (best.get(key) ?? -1)) return;
      best.set(key, value);
      hasProgress = true;
    };
    for (const { name, phase, tables } of databases) {
      note(`${name} ${phase}`, 0);
      for (const table of tables) {
        note(`${name} ${table.name} stage`, stages.indexOf(table.stage));
        note(`${name} ${table.name} rows`, table.rows);
      }
    }
    return hasProgress;
  };
}
