import type { CheckOutcome, MigrationMethod } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { PostgresqlQueries, PostgresqlQueryValues } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** The most severe outcome of a check for each method; a method that it never concerns is left out. */
export type CheckSeverity = Readonly<Partial<Record<'continuous' | 'dump', 'blocker' | 'warning' | 'info'>>>;

interface CheckLabel {
  readonly id: string;
  /** What is true when it passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** What was found when it does not pass, as a sentence without a full stop: `wal_level is not logical`. */
  readonly headline: string;
  readonly severity: CheckSeverity;
  /** The methods that a `fail` can block, derived from `severity`. */
  readonly mayBlock: readonly MigrationMethod[];
  /** Section of the specification that the check rests on. */
  readonly spec?: string;
}

/** A check of the server. `evaluate` is pure: facts in, one outcome out. It runs only when every query has a value. */
export interface ServerCheck<A extends PostgresqlQueries = PostgresqlQueries> extends CheckLabel {
  readonly scope: 'server';
  /** `address`: the check makes sense without a connection; `entry`: it is skipped when the login failed. */
  readonly needs: 'address' | 'entry';
  readonly queries: A;
  readonly evaluate: (
    values: PostgresqlQueryValues<A>,
    facts: PostgresqlSourceFacts,
    options: PreflightOptions,
  ) => CheckOutcome;
}

/** A check of each database that is not ignored. */
export interface DatabaseCheck<A extends PostgresqlQueries = PostgresqlQueries> extends CheckLabel {
  readonly scope: 'database';
  readonly queries: A;
  /** `database` is its name. */
  readonly evaluate: (
    values: PostgresqlQueryValues<A>,
    database: string,
    facts: PostgresqlSourceFacts,
    options: PreflightOptions,
  ) => CheckOutcome;
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = ServerCheck<any> | DatabaseCheck<any>;

/** Infers the types of the values from the queries of the check. */
export function serverCheck<A extends PostgresqlQueries>(
  check: Omit<ServerCheck<A>, 'scope' | 'mayBlock'>,
): ServerCheck<A> {
  return { scope: 'server', mayBlock: blockable(check.severity), ...check };
}

export function databaseCheck<A extends PostgresqlQueries>(
  check: Omit<DatabaseCheck<A>, 'scope' | 'mayBlock'>,
): DatabaseCheck<A> {
  return { scope: 'database', mayBlock: blockable(check.severity), ...check };
}

function blockable(severity: CheckSeverity): readonly MigrationMethod[] {
  return (['continuous', 'dump'] as const).filter((method) => severity[method] === 'blocker');
}
