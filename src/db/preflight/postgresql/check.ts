import { countOf } from '../../../base/text.ts';
import { assertDeclaredBlocks, blockableMethods, type DatabaseCheck, type ServerCheck } from '../check.ts';
import { type CheckOutcome, type MigrationMethod, skipOutcome, unknownOutcome } from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import type { DatabaseScan } from './deep/results.ts';
import type { PostgresqlCheckQueries } from './query.ts';
import type { PostgresqlFacts } from './source-facts.ts';

/** The objects that a finding lists: at most 20; `unlistedNote` reports how many are omitted. */
export function limitObjects<T>(things: readonly T[]): readonly T[] {
  return things.slice(0, listLimit);
}

/** The note ` 7 more are not listed.` after a list that was cut; empty for a complete list. */
export function unlistedNote(names: readonly unknown[] | number): string {
  const more = (typeof names === 'number' ? names : names.length) - listLimit;
  return more <= 0 ? '' : ` ${countOf(more, 'more is', 'more are')} not listed.`;
}

const listLimit = 20;

/**
 * The result of reading the rows of a database. If the rows were not read, the outcome of a check that needs the rows.
 */
export function scanOrOutcome(
  database: string,
  { scans, access }: PostgresqlFacts,
  { deep }: PreflightOptions,
): { readonly scan: DatabaseScan } | { readonly outcome: CheckOutcome } {
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
export function incompleteScanOutcome({ failure, unread }: DatabaseScan): CheckOutcome | undefined {
  if (failure !== undefined) return skipOutcome('the tables could not be listed (unread-tables)');
  if (unread.length === 0) return undefined;
  return skipOutcome(`nothing found, and ${countOf(unread.length, 'table')} not read (unread-tables)`);
}

export type PostgresqlServerCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> = ServerCheck<
  PostgresqlFacts,
  Q
>;
export type PostgresqlDatabaseCheck<Q extends PostgresqlCheckQueries = PostgresqlCheckQueries> = DatabaseCheck<
  PostgresqlFacts,
  Q
> & {
  /** The check uses `scans`: with `--deep` the check is evaluated again after the rows were read. */
  readonly readsRows?: true;
};

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = PostgresqlServerCheck<any> | PostgresqlDatabaseCheck<any>;

/** The migration methods of PostgreSQL, best first. */
export const postgresqlMethods: readonly MigrationMethod[] = ['continuous', 'dump'];

/** Declares a check of the server; the types of the values in `evaluate` follow from its queries. */
export function declareServerCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlServerCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlServerCheck<Q> {
  const mayBlock = blockableMethods(check.severity, postgresqlMethods);
  return {
    ...check,
    scope: 'server',
    mayBlock,
    evaluate: assertDeclaredBlocks(check.id, mayBlock, check.evaluate),
  };
}

/** Declares a check of each database; the types of the values in `evaluate` follow from its queries. */
export function declareDatabaseCheck<Q extends PostgresqlCheckQueries>(
  check: Omit<PostgresqlDatabaseCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlDatabaseCheck<Q> {
  const mayBlock = blockableMethods(check.severity, postgresqlMethods);
  return {
    ...check,
    scope: 'database',
    mayBlock,
    evaluate: assertDeclaredBlocks(check.id, mayBlock, check.evaluate),
  };
}
