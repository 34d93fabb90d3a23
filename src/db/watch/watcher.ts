import type { Actor } from '../../api/actor.ts';
import type { Clock } from '../../platform/host.ts';
import type { TargetWord } from './identity.ts';
import type { WatchLimits } from './limits.ts';
import type { SourceBaseline } from './postgresql/baseline.ts';
import type { RecordedSlot, WatchRecord } from './record.ts';
import type { RunKeys } from './redis/lost.ts';
import type { StatusSample } from './sample.ts';

export interface WatcherOptions {
  readonly limits: WatchLimits;
  readonly clock: Clock;
  /** A signal that ends the watch without an error. */
  readonly signal: AbortSignal;
  /** Databases that are not migrated (PostgreSQL). */
  readonly ignoreDbs?: readonly string[];
  /** Slots, or `ADDRESS:PORT` of replicas, that belong to the migration, whatever their names are. */
  readonly slots?: readonly string[];
  /** What a login to the target says about its subscriptions (PostgreSQL). */
  readonly target?: TargetWord | undefined;
  /** The watch record, in which earlier commands stored facts about the migration. */
  readonly record?: WatchRecord | undefined;
  /** The source as it was when the migration started (PostgreSQL). */
  readonly baseline?: SourceBaseline | undefined;
  /** A command for the profile of this run, for the fixes that it suggests (PostgreSQL). */
  readonly command?: Actor['command'];
  /** Called with every message before it is sent. */
  readonly onSent?: (place: string, text: string) => void;
}

export interface SourceWatcher {
  poll(): Promise<PollResult>;
  close(): Promise<void>;
}

export interface PollResult {
  readonly sample: StatusSample;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  /**
   * Number of consecutive polls in which the target had received all changes older than a limit, even if the source is still
   * written to.
   */
  readonly caughtUpPolls: number;
  /** Whether the source could be read. */
  readonly reached: boolean;
  /** Why the source could not be read. */
  readonly outage?: string;
  /** The code of the failed connection, as in ConnectError. */
  readonly outageCode?: string;
  /** Milliseconds since the replica was last connected (Redis). */
  readonly missingMs?: number;
  /** The keys of the run of the source in which it had all of them (Redis). */
  readonly runKeys?: RunKeys;
  /** Replication slots, or replicas, of the migration that exist now. */
  readonly activeSlots: readonly RecordedSlot[];
  /** The names of all logical slots, or replicas, that the source has now; absent if it could not be read. */
  readonly consumers?: readonly string[];
  /** Why the migration cannot continue; present only in the last poll. */
  readonly ending?: MigrationEnd;
  /** The baseline with the changes that the target has too, if this poll found one (PostgreSQL). */
  readonly settled?: SourceBaseline;
}

/** What the watch knows after one poll of the source. */
export interface FoldResult<M> {
  readonly state: M;
  readonly sample: StatusSample;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  /**
   * Number of consecutive polls in which the target had received all changes older than a limit, even if the source is still
   * written to.
   */
  readonly caughtUpPolls: number;
  /** Why the migration cannot continue; absent while it can. */
  readonly ending?: MigrationEnd;
}

export interface MigrationEnd {
  readonly message: string;
  readonly hint: string;
}
