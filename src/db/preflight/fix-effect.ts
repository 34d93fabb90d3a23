import type { PreflightQuery } from './query.ts';

/**
 * The changes that the statements of a fix make, as data. The function that writes a statement also returns its effect,
 * so that statement and effect cannot differ. simulate-preflight-fixes.ts evaluates the checks again with the effects.
 */
export type PreflightFixEffect =
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
  | ({ readonly kind: 'role' } & MigrationRoleAttributeChange)
  /** ALTER TABLE … REPLICA IDENTITY; both as in the statement. */
  | { readonly kind: 'replica-identity'; readonly table: string; readonly identity: string }
  /** ACL SETUSER of the user of the migration. */
  | { readonly kind: 'acl'; readonly commands: readonly string[]; readonly allKeys: boolean }
  /** A restart, which also activates the changes that wait for one. */
  | { readonly kind: 'restart' }
  /** What only one query shows: a dropped constraint, another host rule. */
  // biome-ignore lint/suspicious/noExplicitAny: the value of any query; `buildQueryResultFixEffect` types it.
  | { readonly kind: 'result'; readonly query: PreflightQuery<any>; readonly change: (value: any) => unknown };

export interface MigrationRoleAttributeChange {
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
export function buildRoleChangeFixEffect(change: MigrationRoleAttributeChange): PreflightFixEffect {
  return { kind: 'role', ...change };
}

/**
 * The effect of statements that change the result of only one query. `change` receives the present value of the query
 * and returns the value after the statements.
 */
export function buildQueryResultFixEffect<T>(query: PreflightQuery<T>, change: (value: T) => T): PreflightFixEffect {
  return { kind: 'result', query, change };
}

/** The effect of statements that remove the given rows from the result of a query. */
export function buildQueryRowRemovalFixEffect<T>(
  query: PreflightQuery<readonly T[]>,
  rows: readonly T[],
): PreflightFixEffect {
  const removed = new Set(rows);
  return buildQueryResultFixEffect(query, (all) => all.filter((row) => !removed.has(row)));
}
