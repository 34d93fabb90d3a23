import type { DatabaseCheck, ServerCheck } from '../check.ts';
import type { MigrationMethod } from '../finding.ts';
import type { PostgresqlQueries } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** The most severe outcome of a check for each method; a method that it never concerns is left out. */
export type CheckSeverity = Readonly<Partial<Record<'continuous' | 'dump', 'blocker' | 'warning' | 'info'>>>;

/** What every check of PostgreSQL states beside the description that both engines share. */
interface SeverityLabel {
  /** What was found when it does not pass, as a sentence without a full stop: `wal_level is not logical`. */
  readonly headline: string;
  readonly severity: CheckSeverity;
  /** The methods that a `fail` can block, derived from `severity`. */
  readonly mayBlock: readonly MigrationMethod[];
}

export interface PostgresqlServerCheck<Q extends PostgresqlQueries = PostgresqlQueries>
  extends ServerCheck<PostgresqlSourceFacts, Q>,
    SeverityLabel {
  readonly headline: string;
  readonly mayBlock: readonly MigrationMethod[];
}

export interface PostgresqlDatabaseCheck<Q extends PostgresqlQueries = PostgresqlQueries>
  extends DatabaseCheck<PostgresqlSourceFacts, Q>,
    SeverityLabel {
  readonly headline: string;
  readonly mayBlock: readonly MigrationMethod[];
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = PostgresqlServerCheck<any> | PostgresqlDatabaseCheck<any>;

/** Declares a check of the server; the types of the values follow from its queries. */
export function serverCheck<Q extends PostgresqlQueries>(
  check: Omit<PostgresqlServerCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlServerCheck<Q> {
  return { scope: 'server', mayBlock: blockable(check.severity), ...check };
}

/** Declares a check of each database; the types of the values follow from its queries. */
export function databaseCheck<Q extends PostgresqlQueries>(
  check: Omit<PostgresqlDatabaseCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlDatabaseCheck<Q> {
  return { scope: 'database', mayBlock: blockable(check.severity), ...check };
}

function blockable(severity: CheckSeverity): readonly MigrationMethod[] {
  return (['continuous', 'dump'] as const).filter((method) => severity[method] === 'blocker');
}
