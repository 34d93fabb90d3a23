import type { Identity } from './identity.ts';

/**
 * `loading`: the source starts or loads its data, and accepts no commands yet. `stalled`: nothing is replicated. `gone`:
 * the source, or the replica, has not answered for a minute.
 */
export type MigrationWatchPhase = 'waiting' | 'loading' | 'copying' | 'catching_up' | 'streaming' | 'stalled' | 'gone';

/** A violated rule of docs/service.md S9.15 or S9.16: what was observed, and one action for the user. */
export interface WatchRuleViolation {
  readonly rule: string;
  readonly observed: string;
  readonly hint: string;
  /** The database that the violation concerns; undefined if it concerns the whole source. */
  readonly database?: string;
  /** What the violation is about: a table, column, role, slot, publication or host rule. */
  readonly object?: string;
  /** The statement or command that removes the cause of the violation, in a form that can be run unchanged. */
  readonly fix?: ReplicationStopCauseFix;
}

/** One statement or command that removes a cause, and where it is run: as SQL on one of the servers, as a line of pg_hba.conf, or in a shell. */
export interface ReplicationStopCauseFix {
  readonly run_on: 'source' | 'target' | 'pg_hba.conf' | 'shell';
  readonly statement: string;
}

/** Why nothing is replicated, or why the application fails: the one cause that is most certain. */
export interface ReplicationStopCause extends WatchRuleViolation {
  readonly object: string;
  readonly fix: ReplicationStopCauseFix;
  /**
   * `observed`: the source or the target shows the cause. `changed`: the cause is a change since the migration started.
   * `group`: the source cannot show which of `candidates` is the cause.
   */
  readonly basis: 'observed' | 'changed' | 'group';
  /** The ids of the possible causes, most likely first; present only if `basis` is `group`. */
  readonly candidates?: readonly string[];
}

export interface TableStatusSample {
  /** `schema.table`. */
  readonly name: string;
  readonly state: 'waiting' | 'copying' | 'done';
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly rows_done: number;
  /** Estimated rows. */
  readonly rows_total: number;
}

export interface DatabaseStatusSample {
  readonly name: string;
  readonly phase: MigrationWatchPhase;
  /** Absent if the phase is `gone`, in which nothing is known about it. */
  readonly percent?: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  /** Absent like `percent`. */
  readonly lag_bytes?: number;
  /** The replication slot, or for Redis the replica. */
  readonly slot?: string;
  /** Why the slot counts as the one of the migration; absent without a slot that could be it. */
  readonly identified_by?: Identity;
  /** At most 50 tables: first those that are being copied, then the largest. */
  readonly tables: readonly TableStatusSample[];
}

/** The state of a migration at one time, as `-o ndjson` prints it. */
export interface MigrationStatusSample {
  /** ISO 8601. */
  readonly at: string;
  readonly phase: MigrationWatchPhase;
  /** Percentage: 0 to 90 during the initial copy, 90 to 100 during the catch-up; absent if the phase is `gone`. */
  readonly percent?: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  /** Absent like `percent`. */
  readonly lag_bytes?: number;
  /** Estimated seconds until streaming; absent if the rate is zero or not known yet. */
  readonly eta_seconds?: number;
  /** Time at which the service stops the migration (ISO 8601); null if the start is not known. */
  readonly deadline: string | null;
  /** `first_sighting`: no start is recorded, so the deadline counts from the first poll that found the migration. */
  readonly deadline_from: 'migrate' | 'first_sighting' | 'unknown';
  /** Status of the migration at the service; absent if not known. */
  readonly server_status?: string;
  /** The least certain identity of the databases. */
  readonly identified_by?: Identity;
  readonly databases: readonly DatabaseStatusSample[];
  /** Why replication has stopped; absent while changes are replicated. */
  readonly cause?: ReplicationStopCause;
  /** The violated rules, without violations that are a consequence of the cause. */
  readonly violations: readonly WatchRuleViolation[];
  /** What this sample does not include, for example facts that the role may not read. */
  readonly notes?: readonly string[];
}
