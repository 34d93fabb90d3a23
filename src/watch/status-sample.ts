/** `gone`: what is watched does not exist any more, or the source has not answered for a while. */
export type WatchPhase = 'waiting' | 'copying' | 'catching_up' | 'streaming' | 'stalled' | 'gone';

/** A rule of spec.md §4.6 that is broken, or about to be: what was seen, and one thing to do. */
export interface Violation {
  readonly rule: string;
  readonly observed: string;
  readonly hint: string;
  /** undefined: it is about the whole source. */
  readonly database?: string;
}

export interface TableSample {
  /** Qualified. */
  readonly name: string;
  readonly state: 'waiting' | 'copying' | 'done';
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly rows_done: number;
  /** As the server last counted. */
  readonly rows_total: number;
}

export interface DatabaseSample {
  readonly name: string;
  readonly phase: WatchPhase;
  readonly percent: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly lag_bytes: number;
  /** The replication slot, or for Redis the replica, that carries it. */
  readonly slot?: string;
  /** The biggest and those that are being copied; fifty at most. */
  readonly tables: readonly TableSample[];
}

/** One look at a migration, as `-o ndjson` prints it (contract.md §7). */
export interface StatusSample {
  /** ISO 8601. */
  readonly at: string;
  readonly phase: WatchPhase;
  /** The copy is the first 90, catching up the rest. */
  readonly percent: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly lag_bytes: number;
  /** Absent: never at this pace, or not known yet. */
  readonly eta_seconds?: number;
  /** When the service stops it; null as long as its beginning is not known. */
  readonly deadline: string | null;
  /** `first_sighting`: no migration of ours is on record, so the clock runs from when it was first seen. */
  readonly deadline_from: 'migrate' | 'first_sighting' | 'unknown';
  readonly databases: readonly DatabaseSample[];
  readonly violations: readonly Violation[];
  /** What a reader should know about how this was found out. */
  readonly notes?: readonly string[];
}
