import {
  type DatabasePreflightCheck,
  type ServerPreflightCheck,
  selectBlockableMigrationMethods,
  withOnlyDeclaredMethodsBlockedAssertion,
} from '../check.ts';
import type { MigrationMethod } from '../finding.ts';
import type { PostgresqlCheckQueries } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

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
