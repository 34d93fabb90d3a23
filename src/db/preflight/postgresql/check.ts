import { countOf } from '../../../base/text.ts';
import {
  type DatabasePreflightCheck,
  type ServerPreflightCheck,
  selectBlockableMigrationMethods,
  withOnlyDeclaredMethodsBlockedAssertion,
} from '../check.ts';
import { type MigrationMethod, type PreflightCheckOutcome, skipOutcome, unknownOutcome } from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import type { DatabaseScanResult } from './deep/results.ts';
import type { PostgresqlCheckQueries } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** The objects that a finding lists: at most 20; `buildUnlistedObjectsNote` reports how many are omitted. */
export function limitFindingObjects<T>(things: readonly T[]): readonly T[] {
  return things.slice(0, listLimit);
}

/** The note ` 7 more are not listed.` after a list that was cut; empty for a complete list. */
export function buildUnlistedObjectsNote(names: readonly unknown[] | number): string {
  const more = (typeof names === 'number' ? names : names.length) - listLimit;
  return more <= 0 ? '' : ` ${countOf(more, 'more is', 'more are')} not listed.`;
}

const listLimit = 20;

/**
 * The result of reading the rows of a database. If the rows were not read, the outcome of a check that needs the rows.
 */
export function getRowScanOrCheckOutcome(
  database: string,
  { scans, access }: PostgresqlSourceFacts,
  { deep }: PreflightOptions,
): { readonly scan: DatabaseScanResult } | { readonly outcome: PreflightCheckOutcome } {
  if (deep === undefined) return { outcome: skipOutcome('needs --deep') };
  if (access.get(database)?.kind !== 'entered')
    return { outcome: skipOutcome('the database was not reached (db-noconnect)') };
  const scan = scans?.get(database);
  return scan === undefined
    ? { outcome: unknownOutcome('the rows were not read before the end of the run') }
    : { scan };
}

/**
 * The outcome of a check that found nothing in the rows that were read, although some tables were not read; undefined
 * if all tables were read.
 */
export function buildIncompleteScanOutcome({ failure, unread }: DatabaseScanResult): PreflightCheckOutcome | undefined {
  if (failure !== undefined) return skipOutcome('the tables could not be listed (unread-tables)');
  if (unread.length === 0) return undefined;
  return skipOutcome(`nothing found, and ${countOf(unread.length, 'table')} not read (unread-tables)`);
}

export type PostgresqlServerPreflightCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> =
  ServerPreflightCheck<PostgresqlSourceFacts, Q>;
export type PostgresqlDatabaseCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> = DatabasePreflightCheck<
  PostgresqlSourceFacts,
  Q
> & {
  /** The check uses `scans`: with `--deep` the check is evaluated again after the rows were read. */
  readonly readsRows?: true;
};

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = PostgresqlServerPreflightCheck<any> | PostgresqlDatabaseCheck<any>;

/** The migration methods of PostgreSQL, best first. */
export const postgresqlMigrationMethods: readonly MigrationMethod[] = ['continuous', 'dump'];

/** Declares a check of the server; the types of the values in `evaluate` follow from its queries. */
export function declareServerPreflightCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlServerPreflightCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlServerPreflightCheck<Q> {
  const mayBlock = selectBlockableMigrationMethods(check.severity, postgresqlMigrationMethods);
  return {
    ...check,
    scope: 'server',
    mayBlock,
    evaluate: withOnlyDeclaredMethodsBlockedAssertion(check.id, mayBlock, check.evaluate),
  };
}

/** Declares a check of each database; the types of the values in `evaluate` follow from its queries. */
export function declareDatabasePreflightCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlDatabaseCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlDatabaseCheck<Q> {
  const mayBlock = selectBlockableMigrationMethods(check.severity, postgresqlMigrationMethods);
  return {
    ...check,
    scope: 'database',
    mayBlock,
    evaluate: withOnlyDeclaredMethodsBlockedAssertion(check.id, mayBlock, check.evaluate),
  };
}
