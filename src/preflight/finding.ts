/** A way to migrate. `continuous` replicates; `dump` (PostgreSQL) and `scan` (Redis) copy a point in time. */
export type MigrationMethod = 'continuous' | 'dump' | 'scan';

/** `unknown` is never read as `pass`: something could not be asked, and `fix` holds what would answer it. */
export type FindingStatus = 'pass' | 'fail' | 'warn' | 'info' | 'skip' | 'unknown';

/** How a finding is cured, and how the values observed before come back. */
export interface Fix {
  /** Statements in order, each whole and idempotent; for Redis: redis-cli lines. */
  readonly sql?: readonly string[];
  /** Statements that restore what was observed. */
  readonly undo?: readonly string[];
  /** The database the statements run in; absent: any (server-wide). */
  readonly database?: string;
  /** What SQL cannot do: lines for a shell or a file on the server, such as a host rule. */
  readonly shell?: readonly string[];
  readonly undoShell?: readonly string[];
  /** After it the server must be restarted. */
  readonly restart?: boolean;
  /** After it the configuration must be loaded again: no restart, nobody notices. */
  readonly reload?: boolean;
  /** Who must run it: `superuser` unless it says something else. */
  readonly by?: string;
  /** The cure in words. */
  readonly text: string;
}

/** What a judge decides. `observed` and `required` are short values a person can compare. */
export interface CheckOutcome {
  readonly status: FindingStatus;
  /** The methods a `fail` blocks; empty otherwise. */
  readonly blocks: readonly MigrationMethod[];
  readonly observed: string;
  /** Instead of the headline of the check, where one check finds different problems. */
  readonly headline?: string;
  readonly required?: string;
  /** What breaks, in the words the server will use; the arithmetic. */
  readonly detail?: string;
  /** Names of tables, slots, roles and the like, at most as many as fit a screen; `detail` counts the rest. */
  readonly objects?: readonly string[];
  readonly fix?: Fix;
  /** What the method loses without failing: `3 unlogged tables`, `sequence values`. */
  readonly dataLoss?: string;
  /** The only databases a server-wide outcome concerns; absent: all. A `fail` blocks no other. */
  readonly only?: readonly string[];
}

/** An outcome with the check it belongs to (preflight.md, `findings`). */
export interface Finding extends CheckOutcome {
  readonly id: string;
  /** What is true when the check passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** What was found when it does not pass, as a sentence without a full stop: `wal_level is not logical`. */
  readonly headline: string;
  readonly scope: 'server' | 'database';
  readonly database?: string;
  /** Section of the specification the check stands on. */
  readonly spec?: string;
  /** Waived by `--accept`. */
  readonly accepted?: boolean;
}

type OutcomeDetails = Omit<CheckOutcome, 'status' | 'blocks' | 'observed'>;

export function pass(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'pass', blocks: [], observed, ...more };
}

export function info(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'info', blocks: [], observed, ...more };
}

export function warn(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'warn', blocks: [], observed, ...more };
}

export function fail(blocks: readonly MigrationMethod[], observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'fail', blocks, observed, ...more };
}

/** The check does not apply, or something before it failed; `reason` is a whole clause. */
export function skip(reason: string): CheckOutcome {
  return { status: 'skip', blocks: [], observed: reason };
}

export function unknown(reason: string, fix?: Fix): CheckOutcome {
  return { status: 'unknown', blocks: [], observed: reason, ...(fix === undefined ? {} : { fix }) };
}
