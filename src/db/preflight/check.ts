import type { CheckFinding, CheckOutcome, MigrationMethod } from './finding.ts';
import type { PreflightOptions } from './options.ts';
import type { CheckQueries, CheckValues } from './query.ts';

export type MethodSeverity = Readonly<Partial<Record<MigrationMethod, 'blocker' | 'warning' | 'info'>>>;

declare const __TEST_BUILD__: boolean | undefined;

/** The properties that every preflight check of PostgreSQL and Redis declares. */
export interface CheckDescription {
  /** The id never changes, because scripts and `--accept` use it. The source file of the check has the same name. */
  readonly id: string;
  /** The condition that is true when the check passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** The problem when the check does not pass, as a sentence without a full stop: `The role is not a superuser`. */
  readonly headline: string;
  /** A check of the scope `database` is evaluated once for each database that is not ignored. */
  readonly scope: 'server' | 'database';
  /** The rule of docs/service.md that requires the check, such as `S9.13`. */
  readonly spec?: string;
  /**
   * The most severe outcome of the check for each migration method; methods that the check never concerns are left out.
   */
  readonly severity: MethodSeverity;
  /** The migration methods that a `fail` of the check can block, derived from `severity`. */
  readonly mayBlock: readonly MigrationMethod[];
}

/**
 * A check that is evaluated once for the whole server. `evaluate` is a pure function of the query results and returns
 * one outcome. `evaluate` is called only when every required query has a value; otherwise the outcome is `unknown` or
 * `skip`.
 */
export interface ServerCheck<Facts, Q extends CheckQueries> extends CheckDescription {
  readonly scope: 'server';
  /** `address`: the check also runs without a connection; `connection` (default): it is skipped when the login failed. */
  readonly needs?: 'address';
  readonly queries: Q;
  readonly evaluate: (values: CheckValues<Q>, facts: Facts, options: PreflightOptions) => CheckOutcome;
}

/** A check that is evaluated for each database; `evaluate` receives the name of the database. */
export interface DatabaseCheck<Facts, Q extends CheckQueries> extends CheckDescription {
  readonly scope: 'database';
  readonly queries: Q;
  readonly evaluate: (
    values: CheckValues<Q>,
    database: string,
    facts: Facts,
    options: PreflightOptions,
  ) => CheckOutcome;
}

/**
 * Completes a check with the methods that it can block. `evaluate` throws in tests when an outcome blocks another method:
 * a method that is missing in `mayBlock` could count as proven although the outcome of the check is unknown. In the
 * release build `evaluate` does not throw for such an outcome.
 */
export function withBlocks<
  Args extends readonly unknown[],
  Check extends Pick<CheckDescription, 'id' | 'severity'> & { readonly evaluate: (...args: Args) => CheckOutcome },
>(check: Check, methods: readonly MigrationMethod[]) {
  const mayBlock = methods.filter((method) => check.severity[method] === 'blocker');
  return {
    ...check,
    mayBlock,
    evaluate(...args: Args): CheckOutcome {
      const outcome = check.evaluate(...args);
      const excess = outcome.blocks.filter((method) => !mayBlock.includes(method));
      const isRelease = typeof __TEST_BUILD__ !== 'undefined' && !__TEST_BUILD__;
      if (excess.length > 0 && !isRelease)
        throw new Error(`check ${check.id} blocks ${excess.join(' and ')}, which its severity excludes`);
      return outcome;
    },
  };
}

/** The finding of a check: the description of the check and its outcome. */
export function buildFinding(check: CheckDescription, outcome: CheckOutcome, database?: string): CheckFinding {
  const { id, title, headline, scope, spec } = check;
  return {
    id,
    title,
    headline,
    scope,
    ...(spec === undefined ? {} : { spec }),
    ...(database === undefined ? {} : { database }),
    ...outcome,
  };
}
