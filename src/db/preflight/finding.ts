import type { PreflightFixEffect } from './fix-effect.ts';

/** A migration method. `continuous` replicates; `dump` (PostgreSQL) and `scan` (Redis) copy a point in time. */
export type MigrationMethod = 'continuous' | 'dump' | 'scan';

/** `unknown`: a query had no result, and `fix` describes how to get one; `unknown` never counts as `pass`. */
export type PreflightFindingStatus = 'pass' | 'fail' | 'warn' | 'info' | 'skip' | 'unknown';

/** How to correct the cause of a finding, and how to restore the observed values. */
export interface FindingFix {
  /** Idempotent statements in the order in which they must run; for Redis: commands for redis-cli. */
  readonly sql?: readonly string[];
  /** Statements that restore the values observed before the fix. */
  readonly undo?: readonly string[];
  /**
   * Statements that a person must read before running them, because they contain or run an expression of the source, or
   * cannot be undone. Fix scripts contain these statements as comments.
   */
  readonly review?: readonly string[];
  readonly undoReview?: readonly string[];
  /** The database the statements run in; absent if they can run in any database. */
  readonly database?: string;
  /** Steps that SQL cannot do: lines for a shell or for a file on the server, such as pg_hba.conf. */
  readonly shell?: readonly string[];
  readonly undoShell?: readonly string[];
  /** The fix takes effect only after a restart of the server. */
  readonly restart?: boolean;
  /** The fix takes effect after a reload of the configuration, which ends no connection. */
  readonly reload?: boolean;
  /** Who must run the fix (default: a superuser). */
  readonly by?: string;
  /** The fix as an instruction. */
  readonly text: string;
  /** What the statements change, for the simulation of the fix; absent in a report. */
  readonly effects?: readonly PreflightFixEffect[];
  /** Why the statements of the fix cannot be simulated, as a clause. */
  readonly notSimulated?: string;
  /** Whether the checks were evaluated again with the effects of the fix; absent if the fix has no statements. */
  readonly simulated?: boolean;
  /**
   * Ids of other findings that the statements of the fix would make worse. Statements with this effect are
   * left out of the fix, and the `text` of the fix gives the reason.
   */
  readonly worsens?: readonly string[];
}

/** The outcome of a check. `observed` and `required` are short values that a reader can compare. */
export interface PreflightCheckOutcome {
  readonly status: PreflightFindingStatus;
  /** The migration methods that a `fail` blocks; empty for every other status. */
  readonly blocks: readonly MigrationMethod[];
  readonly observed: string;
  /** Replaces the headline of the check, for a check that finds several kinds of problem. */
  readonly headline?: string;
  readonly required?: string;
  /** What will fail during the migration, with the error message of the server and the calculation. */
  readonly detail?: string;
  /** Names of the tables, slots or roles concerned; `detail` gives the number of those that are not listed. */
  readonly objects?: readonly string[];
  readonly fix?: FindingFix;
  /**
   * The condition under which the verdict is correct although the outcome is unknown, as a clause (default: the title).
   */
  readonly premise?: string;
  /** The option or command that resolves an unknown outcome (default: a rehearsal). */
  readonly settledBy?: string;
  /**
   * The data that the migration method does not copy, even if the migration succeeds: `3 unlogged tables`, `sequence
   * values`.
   */
  readonly dataLoss?: string;
  /**
   * The databases that the outcome of a server check concerns; absent if it concerns all. A `fail` blocks only these
   * databases.
   */
  readonly only?: readonly string[];
}

/** The outcome of a check together with its description; an entry of `findings` in the report. */
export interface CheckFinding extends PreflightCheckOutcome {
  readonly id: string;
  /** The condition that is true when the check passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** The problem when the check does not pass, as a sentence without a full stop: `wal_level is not logical`. */
  readonly headline: string;
  readonly scope: 'server' | 'database';
  readonly database?: string;
  /** The rule of docs/service.md that requires the check, such as `S9.13`. */
  readonly spec?: string;
  /** Whether `--accept` waives the finding; a waived finding that is unknown remains unknown. */
  readonly accepted?: boolean;
}

type OutcomeDetails = Omit<PreflightCheckOutcome, 'status' | 'blocks' | 'observed'>;

export function passOutcome(observed: string, more: OutcomeDetails = {}): PreflightCheckOutcome {
  return { status: 'pass', blocks: [], observed, ...more };
}

export function infoOutcome(observed: string, more: OutcomeDetails = {}): PreflightCheckOutcome {
  return { status: 'info', blocks: [], observed, ...more };
}

export function warnOutcome(observed: string, more: OutcomeDetails = {}): PreflightCheckOutcome {
  return { status: 'warn', blocks: [], observed, ...more };
}

export function failOutcome(
  blocks: readonly MigrationMethod[],
  observed: string,
  more: OutcomeDetails = {},
): PreflightCheckOutcome {
  return { status: 'fail', blocks, observed, ...more };
}

/**
 * The outcome of a check that does not apply, or that was not run because an earlier step failed; `reason` is a clause.
 */
export function skipOutcome(reason: string): PreflightCheckOutcome {
  return { status: 'skip', blocks: [], observed: reason };
}

export function unknownOutcome(reason: string, fix?: FindingFix): PreflightCheckOutcome {
  return { status: 'unknown', blocks: [], observed: reason, ...(fix === undefined ? {} : { fix }) };
}

/** Who runs the fix for a managed service: the person who restarts the instance in the console of the service. */
export const managedInstanceAdministrator = 'the administrator of the instance';
