import type { PreflightQuery, QueryResult, QueryResults } from './query.ts';

/**
 * The changes that the statements of a fix make, as data. The function that writes a statement also returns its effect,
 * so that statement and effect cannot differ. run.ts evaluates the checks again with the effects.
 */
export type FixEffect =
  /** ALTER SYSTEM SET of PostgreSQL, or CONFIG SET of Redis. */
  | { readonly kind: 'setting'; readonly name: string; readonly value: string }
  /** ALTER ROLE … SET; without a database it applies to all. */
  | {
      readonly kind: 'role-setting';
      readonly role: string;
      readonly database?: string;
      readonly name: string;
      readonly value: string;
    }
  /** ALTER ROLE of the role of the migration, or GRANT of a role to it. */
  | ({ readonly kind: 'role' } & RoleChange)
  /** ALTER TABLE … REPLICA IDENTITY; both as in the statement. */
  | { readonly kind: 'replica-identity'; readonly table: string; readonly identity: string }
  /** ACL SETUSER of the user of the migration. */
  | { readonly kind: 'acl'; readonly commands: readonly string[]; readonly allKeys: boolean }
  /** A restart, which also activates the changes that wait for one. */
  | { readonly kind: 'restart' }
  /** What only one query shows: a dropped constraint, another host rule. */
  // biome-ignore lint/suspicious/noExplicitAny: the value of any query; `resultEffect` types it.
  | { readonly kind: 'result'; readonly query: PreflightQuery<any>; readonly change: (value: any) => unknown };

export interface RoleChange {
  readonly superuser?: true;
  readonly replication?: true;
  readonly bypassRls?: true;
  readonly inherits?: true;
  /** CONNECTION LIMIT -1. */
  readonly unlimited?: true;
  /** VALID UNTIL 'infinity'. */
  readonly neverExpires?: true;
  /** The name of a role that is granted. */
  readonly memberOf?: string;
}

/** The effect of an ALTER ROLE or GRANT on the role that the migration logs in with. */
export function roleEffect(change: RoleChange): FixEffect {
  return { kind: 'role', ...change };
}

/**
 * The effect of statements that change the result of only one query. `change` receives the present value of the query
 * and returns the value after the statements.
 */
export function resultEffect<T>(query: PreflightQuery<T>, change: (value: T) => T): FixEffect {
  return { kind: 'result', query, change };
}

/** The effect of statements that remove the given rows from the result of a query. */
export function removalEffect<T>(query: PreflightQuery<readonly T[]>, rows: readonly T[]): FixEffect {
  const removed = new Set(rows);
  return resultEffect(query, (all) => all.filter((row) => !removed.has(row)));
}

export type ValueChange = <T>(query: PreflightQuery<T>, how: (value: T) => T) => void;

/** The results after the changes; the same map if nothing changes. A result that is not known remains not known. */
export function changeValues(results: QueryResults, apply: (change: ValueChange) => void): QueryResults {
  const changed = new Map<PreflightQuery<unknown>, QueryResult<unknown>>();
  apply((query, how) => {
    const result = changed.get(query) ?? results.get(query);
    if (result?.kind !== 'known') return;
    // The cast is safe: a map holds for each query only a value that the decoder of the query or its `how` returned.
    const next = how(result.value as Parameters<typeof how>[0]);
    if (next !== result.value) changed.set(query, { kind: 'known', value: next });
  });
  return changed.size === 0 ? results : new Map([...results, ...changed]);
}

/** A migration method. `continuous` replicates; `dump` (PostgreSQL) and `scan` (Redis) copy a point in time. */
export type MigrationMethod = 'continuous' | 'dump' | 'scan';

/** `unknown`: a query had no result, and `fix` describes how to get one; `unknown` never counts as `pass`. */
export type FindingStatus = 'pass' | 'fail' | 'warn' | 'info' | 'skip' | 'unknown';

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
  readonly effects?: readonly FixEffect[];
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
export interface CheckOutcome {
  readonly status: FindingStatus;
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
export interface CheckFinding extends CheckOutcome {
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

type OutcomeDetails = Omit<CheckOutcome, 'status' | 'blocks' | 'observed'>;

export function passOutcome(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'pass', blocks: [], observed, ...more };
}

export function infoOutcome(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'info', blocks: [], observed, ...more };
}

export function warnOutcome(observed: string, more: OutcomeDetails = {}): CheckOutcome {
  return { status: 'warn', blocks: [], observed, ...more };
}

export function failOutcome(
  blocks: readonly MigrationMethod[],
  observed: string,
  more: OutcomeDetails = {},
): CheckOutcome {
  return { status: 'fail', blocks, observed, ...more };
}

/**
 * The outcome of a check that does not apply, or that was not run because an earlier step failed; `reason` is a clause.
 */
export function skipOutcome(reason: string): CheckOutcome {
  return { status: 'skip', blocks: [], observed: reason };
}

export function unknownOutcome(reason: string, fix?: FindingFix): CheckOutcome {
  return { status: 'unknown', blocks: [], observed: reason, ...(fix === undefined ? {} : { fix }) };
}

/** Two unknown outcomes of one check as one, or one beside a warning; a pass adds nothing to the other. */
export function joinUnknown(first: CheckOutcome, second: CheckOutcome): CheckOutcome {
  if (second.status === 'pass') return first;
  if (first.status === 'pass') return second;
  const separators = [
    ['observed', ', and '],
    ['premise', ', and '],
    ['settledBy', '; '],
    ['required', ', and '],
    ['detail', ' '],
  ] as const;
  const texts = separators.flatMap(([name, separator]) => {
    const found = joinTexts(first[name], second[name], separator);
    return found === '' ? [] : [[name, found] as const];
  });
  const fix = {
    ...first.fix,
    by: joinTexts(first.fix?.by, second.fix?.by, ', or '),
    text: joinTexts(first.fix?.text, second.fix?.text, ' '),
  };
  return {
    ...first,
    ...Object.fromEntries(texts),
    objects: [...(first.objects ?? []), ...(second.objects ?? [])],
    fix,
  };
}

function joinTexts(first: string | undefined, second: string | undefined, separator: string): string {
  return [...new Set([first, second])].filter((text) => text !== undefined).join(separator);
}

/** Who runs the fix for a managed service: the person who restarts the instance in the console of the service. */
export const instanceAdministrator = 'the administrator of the instance';

/**
 * The effect of a fix, with the database whose finding the fix corrects; undefined if it is a finding of the server.
 */
export interface DatabaseEffect {
  readonly effect: FixEffect;
  readonly database: string | undefined;
}

/** The findings that change when the given effects are applied, with the result of `findingKey` as the key. */
export interface ChangedFindings {
  readonly changed: ReadonlyMap<string, CheckFinding>;
  /** Why the server would not start after the restart; undefined if it would start. */
  readonly cannotStart?: string | undefined;
}

export type FixProblem =
  | { readonly kind: 'worse'; readonly findings: readonly CheckFinding[] }
  | { readonly kind: 'start'; readonly why: string }
  /** Another fix sets the same name to another value, which corrects this finding too, or does not. */
  | { readonly kind: 'conflict'; readonly with: string; readonly isCorrected: boolean };

export interface SimulatedFix {
  readonly finding: CheckFinding;
  readonly effects: readonly DatabaseEffect[];
}

export function findingKey({ id, database }: Pick<CheckFinding, 'id' | 'database'>): string {
  return database === undefined ? id : `${id} ${database}`;
}
