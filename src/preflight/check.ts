import type { CheckOutcome, Finding, MigrationMethod } from './finding.ts';
import type { PreflightOptions } from './preflight-options.ts';
import type { Queries, QueryValues } from './query.ts';

export type CheckSeverity = Readonly<Partial<Record<MigrationMethod, 'blocker' | 'warning' | 'info'>>>;

declare const __TEST_BUILD__: boolean | undefined;

/** What a check states about itself, whichever engine it belongs to. */
export interface CheckDescription {
  /** Stable: `--accept` and scripts use it. The file is named after it. */
  readonly id: string;
  /** What is true when it passes, as a clause: `wal_level is logical`. */
  readonly title: string;
  /** What was found when it does not pass, as a sentence without a full stop: `The role is not a superuser`. */
  readonly headline: string;
  /** `database`: evaluated once for each database that is not ignored. */
  readonly scope: 'server' | 'database';
  /** Section of the specification that the check rests on. */
  readonly spec?: string;
  /** The most severe outcome for each method; a method that the check never concerns is left out. */
  readonly severity: CheckSeverity;
  /** The methods that a `fail` can block, derived from `severity`. */
  readonly mayBlock: readonly MigrationMethod[];
}

/**
 * A check of the server. `evaluate` is pure: facts in, one outcome out. It runs only when every required query has a
 * value; the engine words the outcome otherwise.
 */
export interface ServerCheck<Facts, Q extends Queries> extends CheckDescription {
  readonly scope: 'server';
  /** `address`: the check makes sense without a connection; `connection`: it is skipped when the login failed. */
  readonly needs: 'address' | 'connection';
  readonly queries: Q;
  readonly evaluate: (values: QueryValues<Q>, facts: Facts, options: PreflightOptions) => CheckOutcome;
}

/** A check of each database, by its name. */
export interface DatabaseCheck<Facts, Q extends Queries> extends CheckDescription {
  readonly scope: 'database';
  readonly queries: Q;
  readonly evaluate: (
    values: QueryValues<Q>,
    database: string,
    facts: Facts,
    options: PreflightOptions,
  ) => CheckOutcome;
}

/** The methods that a check of this severity can block. */
export function blockableMethods(
  severity: CheckSeverity,
  methods: readonly MigrationMethod[],
): readonly MigrationMethod[] {
  return methods.filter((method) => severity[method] === 'blocker');
}

/**
 * Wraps `evaluate`, so that tests fail on an outcome which blocks a method outside `mayBlock`: with such a severity the
 * verdict would count as proven although the check is unknown. The release build reports the outcome as it is.
 */
export function withinBlockableMethods<Args extends readonly unknown[]>(
  id: string,
  mayBlock: readonly MigrationMethod[],
  evaluate: (...args: Args) => CheckOutcome,
): (...args: Args) => CheckOutcome {
  return (...args) => {
    const outcome = evaluate(...args);
    const excess = outcome.blocks.filter((method) => !mayBlock.includes(method));
    const isRelease = typeof __TEST_BUILD__ !== 'undefined' && !__TEST_BUILD__;
    if (excess.length > 0 && !isRelease)
      throw new Error(`check ${id} blocks ${excess.join(' and ')}, which its severity excludes`);
    return outcome;
  };
}

/** The finding of a check: its description and its outcome. */
export function findingOf(check: CheckDescription, outcome: CheckOutcome, database?: string): Finding {
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
