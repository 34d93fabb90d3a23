/** `stalled`: nothing is replicated. `gone`: the slots no longer exist, or the source has not answered for a minute. */
export type WatchPhase = 'waiting' | 'copying' | 'catching_up' | 'streaming' | 'stalled' | 'gone';

/** A broken rule of spec.md §4.6: what was observed, and one action. */
export interface Violation {
  readonly rule: string;
  readonly observed: string;
  readonly hint: string;
  /** undefined: the violation concerns the whole source. */
  readonly database?: string;
}

export interface TableSample {
  /** `schema.table`. */
  readonly name: string;
  readonly state: 'waiting' | 'copying' | 'done';
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly rows_done: number;
  /** Estimated rows. */
  readonly rows_total: number;
}

export interface DatabaseSample {
  readonly name: string;
  readonly phase: WatchPhase;
  readonly percent: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly lag_bytes: number;
  /** The replication slot, or for Redis the replica. */
  readonly slot?: string;
  /** At most 50 tables: those being copied, then the largest. */
  readonly tables: readonly TableSample[];
}

/** The state of a migration at one moment, as `-o ndjson` prints it (contract.md §7). */
export interface StatusSample {
  /** ISO 8601. */
  readonly at: string;
  readonly phase: WatchPhase;
  /** The initial copy is 0 to 90, catching up 90 to 100. */
  readonly percent: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly lag_bytes: number;
  /** Seconds until streaming; absent: never at this rate, or not known yet. */
  readonly eta_seconds?: number;
  /** When the service stops the migration (ISO 8601); null: the start is not known. */
  readonly deadline: string | null;
  /** `first_sighting`: no start is recorded, so the time counts from the first poll that saw the migration. */
  readonly deadline_from: 'migrate' | 'first_sighting' | 'unknown';
  /** Status of the migration at the service; absent: not known. */
  readonly server_status?: string;
  readonly databases: readonly DatabaseSample[];
  readonly violations: readonly Violation[];
  /** Limits of this sample, for example facts that the role may not read. */
  readonly notes?: readonly string[];
}
