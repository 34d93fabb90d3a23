import type { Clock, ProcessEnvironment } from '../../platform/host.ts';
import type { EngineState } from '../engine/state.ts';
import type { DatabaseRehearsalResult } from './rehearsal-report.ts';

/** The parameters of a rehearsal that both engines share. */
export interface RehearsalRunParams {
  readonly clock: Clock;
  readonly env: ProcessEnvironment;
  readonly random: (bytes: number) => Uint8Array;
  /** The signal with which the user aborts the rehearsal. */
  readonly signal: AbortSignal;
  /** Milliseconds without progress after which the rehearsal fails. */
  readonly stallTimeout: number;
  /** The maximum number of times that rows are counted while applications write to the source. */
  readonly maxRounds: number;
  /** Whether objects of PostgreSQL that only a superuser can create are created on the target. */
  readonly allowSuperuserObjects: boolean;
  readonly onState: (state: EngineState) => void;
  /** Called after all data is compared, before the migration of the rehearsal is stopped. */
  readonly onCompared: () => void;
}

export interface RehearsalRunResult {
  readonly databases: readonly DatabaseRehearsalResult[];
  /** Why the migration of the rehearsal could not start. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}
