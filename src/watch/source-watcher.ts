import type { Clock } from '../platform/host.ts';
import type { StatusSample } from './status-sample.ts';
import type { MigrationEnd } from './tracking-result.ts';
import type { WatchLimits } from './watch-limits.ts';
import type { RecordedSlot, WatchRecord } from './watch-record.ts';

export interface WatchOptions {
  readonly limits: WatchLimits;
  readonly clock: Clock;
  /** Ends the watch; nothing is thrown then. */
  readonly signal: AbortSignal;
  /** Databases that are not migrated (PostgreSQL). */
  readonly ignoreDbs?: readonly string[];
  /** Slots, or `ADDRESS:PORT` of replicas, that are the migration's whatever their names. */
  readonly slots?: readonly string[];
  /** What is remembered of the migration. */
  readonly record?: WatchRecord | undefined;
  /** Hears every message before it is sent. */
  readonly onSent?: (place: string, text: string) => void;
}

export interface SourceWatcher {
  poll(): Promise<PollResult>;
  close(): Promise<void>;
}

export interface PollResult {
  readonly sample: StatusSample;
  /** Looks in a row with nothing left to replicate. */
  readonly idlePolls: number;
  /** The source answered. */
  readonly reached: boolean;
  /** Why it did not. */
  readonly outage?: string;
  /** Slots, or replicas, that carry the migration now. */
  readonly activeSlots: readonly RecordedSlot[];
  /** Nothing will ever come of the migration again: the last look. */
  readonly ending?: MigrationEnd;
}
