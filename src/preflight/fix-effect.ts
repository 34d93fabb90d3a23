import type { DecodedQuery } from './query.ts';

/**
 * What the statements of a fix change, as data. The helper that writes a statement also gives its effect, so that the two
 * cannot differ. The checks are evaluated again with it (simulate-fixes.ts).
 */
export type FixEffect =
  /** ALTER SYSTEM SET, or CONFIG SET of Redis. */
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
  // biome-ignore lint/suspicious/noExplicitAny: the value of any query; `changesQueryResult` types it.
  | { readonly kind: 'result'; readonly query: DecodedQuery<any>; readonly change: (value: any) => unknown };

export interface RoleChange {
  readonly superuser?: true;
  readonly replication?: true;
  readonly bypassRls?: true;
  readonly inherits?: true;
  /** CONNECTION LIMIT -1. */
  readonly unlimited?: true;
  /** VALID UNTIL 'infinity'. */
  readonly neverExpires?: true;
  /** A role that was granted. */
  readonly memberOf?: string;
}

/** The effect of ALTER ROLE or GRANT on the role of the migration. */
export function changesRole(change: RoleChange): FixEffect {
  return { kind: 'role', ...change };
}

/** The effect of statements whose result one query shows. `change` gets the value of the query and returns the new one. */
export function changesQueryResult<T>(query: DecodedQuery<T>, change: (value: T) => T): FixEffect {
  return { kind: 'result', query, change };
}

/** The effect of statements after which a query returns these rows no more. */
export function removesResultRows<T>(query: DecodedQuery<readonly T[]>, rows: readonly T[]): FixEffect {
  const removed = new Set(rows);
  return changesQueryResult(query, (all) => all.filter((row) => !removed.has(row)));
}
