import type { FixEffect } from './fix-effect.ts';

/** A method to migrate. `continuous` replicates; `dump` (PostgreSQL) and `scan` (Redis) copy a point in time. */
export type MigrationMethod = 'continuous' | 'dump' | 'scan';

/** `unknown`: a query had no result; `fix` holds what would give one. It never counts as `pass`. */
export type FindingStatus = 'pass' | 'fail' | 'warn' | 'info' | 'skip' | 'unknown';

/** How to correct the cause of a finding, and how to restore the observed values. */
export interface Fix {
  /** Idempotent statements in order; for Redis: lines of redis-cli. */
  readonly sql?: readonly string[];
  /** Statements that restore the observed values. */
  readonly undo?: readonly string[];
  /**
   * Statements that a person reads before running them, for they hold an expression of the source, run one, or cannot be
   * undone. A script has them as comments.
   */
  readonly review?: readonly string[];
  readonly undoReview?: readonly string[];
  /** The database the statements run in; absent: any (server-wide). */
  readonly database?: string;
  /** What SQL cannot do: lines for a shell or for a file on the server, such as pg_hba.conf. */
  readonly shell?: readonly string[];
  readonly undoShell?: readonly string[];
  /** The server must be restarted for it to take effect. */
  readonly restart?: boolean;
  /** The configuration must be reloaded; no restart, no connection ends. */
  readonly reload?: boolean;
  /** Who must run it (default: a superuser). */
  readonly by?: string;
  /** The fix as an instruction. */
  readonly text: string;
  /** What the statements change. Given to the simulation; a report has none. */
  readonly effects?: readonly FixEffect[];
  /** Why the statements cannot be simulated: a clause. */
  readonly notSimulated?: string;
  /** Whether the checks were evaluated again with the effects; absent: there are no statements. */
  readonly simulated?: boolean;
  /** Ids of findings that the statements would make worse. They are left out, and `text` says why. */
  readonly worsens?: readonly string[];
}

/** The outcome of a check. `observed` and `required` are short values that a reader can compare. */
export interface CheckOutcome {
  readonly status: FindingStatus;
  /** The methods a `fail` blocks; empty otherwise. */
  readonly blocks: readonly MigrationMethod[];
  readonly observed: string;
  /** Instead of the headline of the check, where one check finds different problems. */
  readonly headline?: string;
  readonly required?: string;
  /** What will fail, with the message of the server, and the calculation. */
  readonly detail?: string;
  /** Names of tables, slots or roles, at most as many as fit a screen; `detail` counts the rest. */
  readonly objects?: readonly string[];
  readonly fix?: Fix;
  /** What must be true for the verdict when the outcome is unknown, as a clause (default: the title). */
  readonly premise?: string;
  /** The option or command that settles an unknown outcome (default: a rehearsal). */
  readonly settledBy?: string;
  /** What the method does not copy, without failing: `3 unlogged tables`, `sequence values`. */
  readonly dataLoss?: string;
  /** The databases that an outcome of the server concerns; absent: all. A `fail` blocks no other. */
  readonly only?: readonly string[];
}

/** An outcome with the description of its check; an entry of `findings` in the report. */
export interface Finding extends CheckOutcome {
  readonly id: string;
  /** What is true when the check passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** What was found when it does not pass, as a sentence without a full stop: `wal_level is not logical`. */
  readonly headline: string;
  readonly scope: 'server' | 'database';
  readonly database?: string;
  /** Section of the specification that the check rests on. */
  readonly spec?: string;
  /** Waived by `--accept`; an unknown outcome remains unknown. */
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

/** The check does not apply, or an earlier step failed; `reason` is a clause. */
export function skip(reason: string): CheckOutcome {
  return { status: 'skip', blocks: [], observed: reason };
}

export function unknown(reason: string, fix?: Fix): CheckOutcome {
  return { status: 'unknown', blocks: [], observed: reason, ...(fix === undefined ? {} : { fix }) };
}
