import type { Clock } from '../platform/host.ts';
import type { Limits } from './limits.ts';
import type { MigrationRecord, RecordedSlot } from './record.ts';
import type { Sighting } from './sighting.ts';
import type { Ending } from './step.ts';

export interface WatchOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  /** Ends the watch; nothing is thrown then. */
  readonly signal: AbortSignal;
  /** Databases that are not migrated (PostgreSQL). */
  readonly ignoreDbs?: readonly string[];
  /** Slots, or `ADDRESS:PORT` of replicas, that are the migration's whatever their names. */
  readonly slots?: readonly string[];
  /** What is remembered of the migration. */
  readonly record?: MigrationRecord | undefined;
  /** Hears every message before it is sent. */
  readonly onSent?: (place: string, text: string) => void;
}

export interface Watcher {
  look(): Promise<Looked>;
  close(): Promise<void>;
}

export interface Looked {
  readonly sighting: Sighting;
  /** Looks in a row with nothing left to replicate. */
  readonly idle: number;
  /** The source answered. */
  readonly reached: boolean;
  /** Why it did not. */
  readonly outage?: string;
  /** Slots, or replicas, that carry the migration now. */
  readonly carriers: readonly RecordedSlot[];
  /** Nothing will ever come of the migration again: the last look. */
  readonly ending?: Ending;
}
