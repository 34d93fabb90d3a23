import {
  type DatabasePreflightCheck,
  type ServerPreflightCheck,
  selectBlockableMethods,
  withOnlyDeclaredMethodsBlockedAssertion,
} from '../check.ts';
import type { MigrationMethod } from '../finding.ts';
import type { PostgresqlPreflightQueries } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export type PostgresqlServerPreflightCheck<Q extends PostgresqlPreflightQueries = PostgresqlPreflightQueries> =
  ServerPreflightCheck<PostgresqlSourceFacts, Q>;
export type PostgresqlDatabaseCheck<Q extends PostgresqlPreflightQueries = PostgresqlPreflightQueries> =
  DatabasePreflightCheck<PostgresqlSourceFacts, Q> & {
    /** The check uses `scans`: with `--deep` the check is evaluated again after the rows were read. */
    readonly readsRows?: true;
  };

// biome-ignore lint/suspicious/noExplicitAny: the list holds checks with different queries; each was typed where it was written.
export type PostgresqlCheck = PostgresqlServerPreflightCheck<any> | PostgresqlDatabaseCheck<any>;

/** Declares a check of the server; the types of the values in `evaluate` follow from its queries. */
export function declareServerPreflightCheck<Q extends PostgresqlPreflightQueries>(
  check: Omit<PostgresqlServerPreflightCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlServerPreflightCheck<Q> {
  const mayBlock = selectBlockableMethods(check.severity, methods);
  return {
    ...check,
    scope: 'server',
    mayBlock,
    evaluate: withOnlyDeclaredMethodsBlockedAssertion(check.id, mayBlock, check.evaluate),
  };
}

/** Declares a check of each database; the types of the values in `evaluate` follow from its queries. */
export function declareDatabasePreflightCheck<Q extends PostgresqlPreflightQueries>(
  check: Omit<PostgresqlDatabaseCheck<Q>, 'scope' | 'mayBlock'>,
): PostgresqlDatabaseCheck<Q> {
  const mayBlock = selectBlockableMethods(check.severity, methods);
  return {
    ...check,
    scope: 'database',
    mayBlock,
    evaluate: withOnlyDeclaredMethodsBlockedAssertion(check.id, mayBlock, check.evaluate),
  };
}

const methods: readonly MigrationMethod[] = ['continuous', 'dump'];
