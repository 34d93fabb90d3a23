import type { WatchPhase } from '../status-sample.ts';

/** What the phase of one database is decided by. */
export interface PhaseInput {
  /** undefined: there is none. */
  readonly slot: { readonly active: boolean; readonly lag: number } | undefined;
  /** A slot of the migration was seen in this database before. */
  readonly hadSlot: boolean;
  /** The target was connected to the slot at some time. */
  readonly wasActive: boolean;
  /** Tables are read by the migration now, or were a moment ago. */
  readonly copying: boolean;
  /** Somebody reads it with pg_dump. */
  readonly dumped: boolean;
  /** As pg_stat_replication has it; undefined: nobody is connected. */
  readonly sender: string | undefined;
  /** A rule is broken that stops replication. */
  readonly stopped: boolean;
  /** Bytes that count as keeping up. */
  readonly streamingLag: number;
}

export function decidePhase(input: PhaseInput): WatchPhase {
  const { slot } = input;
  if (slot === undefined) return input.hadSlot ? 'gone' : input.dumped ? 'copying' : 'waiting';
  if (input.stopped) return 'stalled';
  if (!input.wasActive && !input.copying) return 'waiting';
  if (input.copying) return 'copying';
  // A consumer that is away with something left to confirm follows nothing.
  const follows = slot.active || slot.lag === 0;
  return follows && slot.lag <= input.streamingLag && input.sender !== 'catchup' ? 'streaming' : 'catching_up';
}

/** Of all databases: what is worst is told, and what is least far; those with nothing to do do not count. */
export function overallPhase(phases: readonly WatchPhase[]): WatchPhase {
  const order: readonly WatchPhase[] = ['stalled', 'copying', 'catching_up', 'streaming', 'waiting', 'gone'];
  const found = order.find((phase) => phases.includes(phase)) ?? 'waiting';
  // One that has not begun is behind those that stream.
  return found === 'streaming' && phases.includes('waiting') ? 'copying' : found;
}
