import type { MigrationWatchPhase } from '../status-sample.ts';

/** The facts from which the phase of one database follows. */
export interface WatchedDatabasePhaseInput {
  /** The replication slot; undefined if it does not exist. */
  readonly slot: { readonly active: boolean; readonly lag: number } | undefined;
  /** Whether this or an earlier poll found a slot of the migration in the database. */
  readonly hadSlot: boolean;
  /** Whether the target was connected to the slot in this or an earlier poll. */
  readonly wasActive: boolean;
  /** Whether the initial copy is running. */
  readonly copying: boolean;
  /** Whether pg_dump is reading the database. */
  readonly dumped: boolean;
  /** `pg_stat_replication.state`; undefined without a WAL sender. */
  readonly sender: string | undefined;
  /** Whether a rule is violated whose violation stops replication. */
  readonly stopped: boolean;
  /** Maximum lag in bytes at which the phase is still streaming. */
  readonly streamingLag: number;
}

export function decideWatchedDatabasePhase(input: WatchedDatabasePhaseInput): MigrationWatchPhase {
  const { slot } = input;
  if (slot === undefined) return input.hadSlot ? 'stalled' : input.dumped ? 'copying' : 'waiting';
  if (input.stopped) return 'stalled';
  if (!input.wasActive && !input.copying) return 'waiting';
  if (input.copying) return 'copying';
  // The phase is not streaming while the consumer is disconnected and has unconfirmed changes.
  const follows = slot.active || slot.lag === 0;
  return follows && slot.lag <= input.streamingLag && input.sender !== 'catchup' ? 'streaming' : 'catching_up';
}

/**
 * The phase of all databases together: `stalled` if one database is stalled, otherwise the phase of the least advanced
 * database. Databases that wait count only if others are streaming.
 */
export function combineDatabasePhases(phases: readonly MigrationWatchPhase[]): MigrationWatchPhase {
  const order: readonly MigrationWatchPhase[] = [
    'stalled',
    'loading',
    'copying',
    'catching_up',
    'streaming',
    'waiting',
    'gone',
  ];
  const found = order.find((phase) => phases.includes(phase)) ?? 'waiting';
  // A database without a started copy will still be copied, so the migration as a whole is not streaming yet.
  return found === 'streaming' && phases.includes('waiting') ? 'copying' : found;
}
