import type { WatchPhase } from '../status-sample.ts';

/** Facts that decide the phase of one database. */
export interface DatabasePhaseInput {
  /** undefined: the slot does not exist. */
  readonly slot: { readonly active: boolean; readonly lag: number } | undefined;
  /** A slot of the migration existed in this database before. */
  readonly hadSlot: boolean;
  /** The target was connected to the slot before. */
  readonly wasActive: boolean;
  /** The initial copy is running. */
  readonly copying: boolean;
  /** pg_dump is reading the database. */
  readonly dumped: boolean;
  /** `pg_stat_replication.state`; undefined: no WAL sender. */
  readonly sender: string | undefined;
  /** A rule that stops replication is broken. */
  readonly stopped: boolean;
  /** Largest lag in bytes that counts as streaming. */
  readonly streamingLag: number;
}

export function decidePhase(input: DatabasePhaseInput): WatchPhase {
  const { slot } = input;
  if (slot === undefined) return input.hadSlot ? 'gone' : input.dumped ? 'copying' : 'waiting';
  if (input.stopped) return 'stalled';
  if (!input.wasActive && !input.copying) return 'waiting';
  if (input.copying) return 'copying';
  // A disconnected consumer with unconfirmed changes is not streaming.
  const follows = slot.active || slot.lag === 0;
  return follows && slot.lag <= input.streamingLag && input.sender !== 'catchup' ? 'streaming' : 'catching_up';
}

/**
 * The phase of all databases together: the worst one, then the least advanced one. Waiting databases count only when others are
 * streaming.
 */
export function overallPhase(phases: readonly WatchPhase[]): WatchPhase {
  const order: readonly WatchPhase[] = ['stalled', 'copying', 'catching_up', 'streaming', 'waiting', 'gone'];
  const found = order.find((phase) => phases.includes(phase)) ?? 'waiting';
  // A database that has not started is still to be copied.
  return found === 'streaming' && phases.includes('waiting') ? 'copying' : found;
}
