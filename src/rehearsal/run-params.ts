import type { MigrationState } from '../engine/migration-state.ts';
import type { Clock, Environment } from '../platform/host.ts';
import type { DatabaseRehearsal } from './rehearsal-report.ts';

/** What a rehearsal of either engine works with. */
export interface RehearsalRunParams {
  readonly clock: Clock;
  readonly env: Environment;
  readonly random: (bytes: number) => Uint8Array;
  /** The person wants it to end. */
  readonly signal: AbortSignal;
  /** Milliseconds without progress until it is given up. */
  readonly stallTimeout: number;
  /** Rounds of counting, as long as the source is written to. */
  readonly maxRounds: number;
  readonly onState: (state: MigrationState) => void;
  /** Everything was counted: what follows is the end of it. */
  readonly onCompared: () => void;
}

export interface RehearsalRunResult {
  readonly databases: readonly DatabaseRehearsal[];
  /** Why nothing could be begun. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}
