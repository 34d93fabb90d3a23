import type { CheckOutcome } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { PostgresqlQueries, PostgresqlQueryValues } from './query.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** A judge is pure: facts in, one outcome out. It runs only when every question of the check was answered; the runner words the rest. */
export interface ServerCheck<A extends PostgresqlQueries = PostgresqlQueries> {
  readonly id: string;
  /** What is true when it passes: `wal_level is logical`. */
  readonly title: string;
  readonly scope: 'server';
  readonly spec?: string;
  /** What must stand before the check makes sense. `address`: nothing; `entry`: the server let us in. */
  readonly needs: 'address' | 'entry';
  readonly queries: A;
  readonly evaluate: (
    values: PostgresqlQueryValues<A>,
    ground: PostgresqlSourceFacts,
    wish: PreflightOptions,
  ) => CheckOutcome;
}

/** Judged once for each database that is not ignored. */
export interface DatabaseCheck<A extends PostgresqlQueries = PostgresqlQueries> {
  readonly id: string;
  readonly title: string;
  readonly scope: 'database';
  readonly spec?: string;
  readonly queries: A;
  /** `database` is its name. */
  readonly evaluate: (
    values: PostgresqlQueryValues<A>,
    database: string,
    ground: PostgresqlSourceFacts,
    wish: PreflightOptions,
  ) => CheckOutcome;
}

// biome-ignore lint/suspicious/noExplicitAny: the catalogue holds checks with different questions; each was typed where it was written.
export type PostgresqlCheck = ServerCheck<any> | DatabaseCheck<any>;

/** Gives the judge the types of its own questions. */
export function serverCheck<A extends PostgresqlQueries>(check: Omit<ServerCheck<A>, 'scope'>): ServerCheck<A> {
  return { scope: 'server', ...check };
}

export function databaseCheck<A extends PostgresqlQueries>(check: Omit<DatabaseCheck<A>, 'scope'>): DatabaseCheck<A> {
  return { scope: 'database', ...check };
}
