import type { Clock } from '../platform/host.ts';
import type { MigrationWatchLimits } from './migration-watch-limits.ts';
import type { StatusSample } from './status-sample.ts';
import type { MigrationEnd } from './tracking-result.ts';
import type { RecordedSlot, WatchRecord } from './watch-record.ts';

export interface WatchOptions {
  readonly limits: MigrationWatchLimits;
  readonly clock: Clock;
  /** Ends the watch without an error. */
  readonly signal: AbortSignal;
  /** Databases that are not migrated (PostgreSQL). */
  readonly ignoreDbs?: readonly string[];
  /** Slots, or `ADDRESS:PORT` of replicas, that belong to the migration whatever their names. */
  readonly slots?: readonly string[];
  /** What earlier commands recorded about the migration. */
  readonly record?: WatchRecord | undefined;
  /** Called with every message before it is sent. */
  readonly onSent?: (place: string, text: string) => void;
}

export interface SourceWatcher {
  poll(): Promise<PollResult>;
  close(): Promise<void>;
}

export interface PollResult {
  readonly sample: StatusSample;
  /** Consecutive polls with nothing left to replicate. */
  readonly idlePolls: number;
  /** The source could be read. */
  readonly reached: boolean;
  /** Why it could not be read. */
  readonly outage?: string;
  /** Slots, or replicas, of the migration that exist now. */
  readonly activeSlots: readonly RecordedSlot[];
  /** Present when the migration cannot continue; this is the last poll. */
  readonly ending?: MigrationEnd;
}
