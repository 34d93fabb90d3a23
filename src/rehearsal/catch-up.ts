import type { MigrationState, TableSyncState } from '../engine/migration-state.ts';
import type { RunningMigration } from '../engine/running-migration.ts';
import type { Clock } from '../platform/host.ts';

export interface CatchUpResult {
  /** `over`: nothing replicates any more; `stuck`: nothing has come nearer for so long. */
  readonly kind: 'arrived' | 'over' | 'stuck';
  /** Of each database, until everything it had was there, or it ended. */
  readonly seconds: ReadonlyMap<string, number>;
}

export interface CatchUpOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks. */
  readonly poll: number;
  /** Milliseconds without any progress until it is given up. */
  readonly stallTimeout: number;
  readonly onState?: (state: MigrationState) => void;
}

/** Waits until every table of every database that still lives has arrived. Rejects when the signal comes. */
export async function waitForCatchUp(
  migration: RunningMigration,
  { clock, signal, poll, stallTimeout: patience, onState }: CatchUpOptions,
): Promise<CatchUpResult> {
  const begun = clock.now();
  const seconds = new Map<string, number>();
  const furthest = createProgressTracker();
  let since = begun;
  for (;;) {
    signal.throwIfAborted();
    const state = migration.state();
    onState?.(state);
    const now = clock.now();
    for (const { name, phase } of state.databases) {
      if (!seconds.has(name) && settledPhases.has(phase)) seconds.set(name, (now - begun) / 1000);
    }
    if (state.status !== 'running' && state.status !== 'syncing') return { kind: 'over', seconds };
    if (state.status === 'syncing') return { kind: 'arrived', seconds };
    if (furthest(state)) since = now;
    if (now - since >= patience) {
      for (const { name } of state.databases) if (!seconds.has(name)) seconds.set(name, (now - begun) / 1000);
      return { kind: 'stuck', seconds };
    }
    await clock.sleep(poll, signal);
  }
}

const settledPhases: ReadonlySet<string> = new Set(['streaming', 'done', 'stopped', 'error']);

/** Whether a look is further than every one before it: a copy that fails begins again and again and gets nowhere. */
function createProgressTracker(): (state: MigrationState) => boolean {
  const stages: readonly TableSyncState[] = ['i', 'd', 'f', 's', 'r'];
  const most = new Map<string, number>();
  return ({ databases }) => {
    let isFurther = false;
    const note = (key: string, value: number) => {
      if (value <= (most.get(key) ?? -1)) return;
      most.set(key, value);
      isFurther = true;
    };
    for (const { name, phase, tables } of databases) {
      note(`${name} ${phase}`, 0);
      for (const table of tables) {
        note(`${name} ${table.name} stage`, stages.indexOf(table.stage));
        note(`${name} ${table.name} rows`, table.rows);
      }
    }
    return isFurther;
  };
}
