import { formatDuration } from '../../base/text.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { Identity } from './identity.ts';

/**
 * `loading`: the source starts or loads its data, and accepts no commands yet. `stalled`: nothing is replicated. `gone`:
 * the source, or the replica, has not answered for a minute.
 */
export type WatchPhase = 'waiting' | 'loading' | 'copying' | 'catching_up' | 'streaming' | 'stalled' | 'gone';

/** A violated rule of docs/service.md S9.15 or S9.16: what was observed, and one action for the user. */
export interface Violation {
  readonly rule: string;
  readonly observed: string;
  readonly hint: string;
  /** The database that the violation concerns; undefined if it concerns the whole source. */
  readonly database?: string;
  /** What the violation is about: a table, column, role, slot, publication or host rule. */
  readonly object?: string;
  /** The statement or command that removes the cause of the violation, in a form that can be run unchanged. */
  readonly fix?: CauseFix;
}

/** One statement or command that removes a cause, and where it is run: as SQL on one of the servers, as a line of pg_hba.conf, or in a shell. */
export interface CauseFix {
  readonly run_on: 'source' | 'target' | 'pg_hba.conf' | 'shell';
  readonly statement: string;
}

/** What to do about a violation, with the statement or command that removes its cause. */
export function helpWithViolation({ hint, fix }: Violation): string {
  return fix === undefined ? hint : `${hint}; ${fixPlaces[fix.run_on]}: ${fix.statement}`;
}

/** Where a statement is run. */
export const fixPlaces: Readonly<Record<CauseFix['run_on'], string>> = {
  source: 'run on the source',
  target: 'run on the target',
  'pg_hba.conf': 'add to pg_hba.conf',
  shell: 'run',
};

/** Why nothing is replicated, or why the application fails: the one cause that is most certain. */
export interface StopCause extends Violation {
  readonly object: string;
  readonly fix: CauseFix;
  /**
   * `observed`: the source or the target shows the cause. `changed`: the cause is a change since the migration started.
   * `group`: the source cannot show which of `candidates` is the cause.
   */
  readonly basis: 'observed' | 'changed' | 'group';
  /** The ids of the possible causes, most likely first; present only if `basis` is `group`. */
  readonly candidates?: readonly string[];
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
  readonly tables: readonly TableSample[];
}

/** The state of a migration at one time, as `-o ndjson` prints it. */
export interface StatusSample {
  /** ISO 8601. */
  readonly at: string;
  readonly phase: WatchPhase;
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
  readonly databases: readonly DatabaseSample[];
  /** Why replication has stopped; absent while changes are replicated. */
  readonly cause?: StopCause;
  /** The violated rules, without violations that are a consequence of the cause. */
  readonly violations: readonly Violation[];
  /** What this sample does not include, for example facts that the role may not read. */
  readonly notes?: readonly string[];
}

const dayMs = 86_400_000;

/** Milliseconds after its start at which the service stops a migration (docs/service.md S9.8). */
export const migrationTimeLimit = 14 * dayMs;

/** Milliseconds after the start of a migration from which the watch reports the deadline as a violation. */
const warnAfter = 10 * dayMs;

export interface KnownStart {
  /** The start of the migration, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly from: Exclude<StatusSample['deadline_from'], 'unknown'>;
}

export function deadlineFields(start: KnownStart | undefined): Pick<StatusSample, 'deadline' | 'deadline_from'> {
  if (start === undefined) return { deadline: null, deadline_from: 'unknown' };
  return {
    deadline: new Date(start.startedAt + migrationTimeLimit).toISOString().replace('.000Z', 'Z'),
    deadline_from: start.from,
  };
}

/**
 * Reports a deadline that has passed, is near, or comes before the estimated end of the migration.
 * @param now milliseconds since the epoch
 */
export function checkDeadline(
  start: KnownStart | undefined,
  now: number,
  etaSeconds: number | undefined,
): readonly Violation[] {
  if (start === undefined) return [];
  const left = start.startedAt + migrationTimeLimit - now;
  const suffix = start.from === 'migrate' ? '' : ', counted from the first poll that saw it';
  const hint =
    'move the application to the target before the deadline, or stop the migration, empty the target, and start it again';
  if (left <= 0)
    return [{ rule: 'deadline', observed: `the migration has run for more than two weeks${suffix}`, hint }];
  if (etaSeconds !== undefined && etaSeconds * 1000 > left) {
    const needed = `${formatDuration(etaSeconds * 1000)} needed, ${formatDuration(left)} left`;
    return [
      {
        rule: 'deadline',
        observed: `at the current rate the migration does not end before the deadline: ${needed}${suffix}`,
        hint: 'lower the load on the source, leave out large tables, or migrate by dump',
      },
    ];
  }
  if (now - start.startedAt < warnAfter) return [];
  return [{ rule: 'deadline', observed: `the service stops the migration in ${formatDuration(left)}${suffix}`, hint }];
}

/**
 * Percentage of the migration: 0 to 90 during the initial copy, 90 to 100 during the catch-up.
 * @param before the previous value, which is kept while the migration does not run
 */
export function overallPercent(phase: WatchPhase, copied: number, caughtUp: number, before: number): number {
  switch (phase) {
    case 'waiting':
      return 0;
    case 'copying':
      return roundPercent(90 * copied);
    case 'catching_up':
      return roundPercent(90 + 10 * caughtUp);
    case 'streaming':
      return 100;
    case 'loading':
    case 'stalled':
    case 'gone':
      return before;
    default:
      return phase satisfies never;
  }
}

function roundPercent(percent: number): number {
  return Math.floor(Math.min(99.9, Math.max(0, percent)) * 10) / 10;
}

/** An exponentially weighted moving average of a rate. */
export interface MovingRate {
  /** Units per second. */
  readonly perSecond: number;
  /** Total number of units at the last sample. */
  readonly total: number;
  /** Milliseconds. */
  readonly at: number;
}

/** Time constant in seconds: after this time, 63 % of a change of the rate is visible. */
const averagingSeconds = 15;

/** @param before the previous average; undefined if there is no earlier sample */
export function updateMovingRate(before: MovingRate | undefined, total: number, at: number): MovingRate {
  if (before === undefined || total < before.total) return { perSecond: 0, total, at };
  const seconds = (at - before.at) / 1000;
  // If the clock was set back, the rate does not change.
  if (seconds <= 0) return seconds === 0 ? before : { ...before, total, at };
  const now = (total - before.total) / seconds;
  // The first measured rate is used without averaging.
  const weight = before.perSecond === 0 ? 1 : 1 - Math.exp(-seconds / averagingSeconds);
  return { perSecond: before.perSecond + weight * (now - before.perSecond), total, at };
}

/** Seconds until `left` units are done; undefined if the rate is zero. */
export function estimateSecondsLeft(left: number, perSecond: number): number | undefined {
  if (left <= 0) return 0;
  return perSecond > 0 ? Math.ceil(left / perSecond) : undefined;
}

/**
 * Whether the target has received everything that was written `delay` milliseconds ago. While applications write, there is
 * always something left to replicate, so a lag of 0 would never be seen.
 * @param polls all polls, oldest first
 * @param positionOf how far the source had written, in bytes; undefined if it does not show it
 * @param lag in the last poll, in bytes
 */
export function hasTargetCaughtUp<T extends { readonly at: number }>(
  polls: readonly T[],
  positionOf: (poll: T) => number | undefined,
  lag: number,
  delay: number,
): boolean {
  if (lag === 0) return true;
  const now = polls.at(-1);
  const earlier = now && polls.findLast(({ at }) => at <= now.at - delay);
  const [before, written] = [earlier, now].map((poll) => poll && positionOf(poll));
  return before !== undefined && written !== undefined && written - lag >= before;
}

/**
 * The name of an object that the server reported, quoted for a statement that a person may run. A server that is not PostgreSQL
 * can report names that no object has: an empty name, and one with NUL, become an empty quoted name, which every server refuses.
 */
export function quoteReported(name: string): string {
  return name === '' || name.includes('\0') ? '""' : quoteIdentifier(name);
}
