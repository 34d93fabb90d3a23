import type { MigrationState } from '../engine/migration-state.ts';
import type { Clock, Environment } from '../platform/host.ts';
import type { DatabaseRehearsal } from './rehearsal-report.ts';

/** The parameters of a rehearsal that both engines share. */
export interface RehearsalRunParams {
  readonly clock: Clock;
  readonly env: Environment;
  readonly random: (bytes: number) => Uint8Array;
  /** Aborted by the user. */
  readonly signal: AbortSignal;
  /** Milliseconds without progress after which the rehearsal fails. */
  readonly stallTimeout: number;
  /** The largest number of counting rounds while applications write to the source. */
  readonly maxRounds: number;
  /** Creates the objects of PostgreSQL that only a superuser can create. */
  readonly allowSuperuserObjects: boolean;
  readonly onState: (state: MigrationState) => void;
  /** Called when all data is compared and the migration is about to be stopped. */
  readonly onCompared: () => void;
}

export interface RehearsalRunResult {
  readonly databases: readonly DatabaseRehearsal[];
  /** Why the migration could not start. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}
