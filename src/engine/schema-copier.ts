import type { PostgresqlSource } from '../postgresql/source.ts';

/** One database and how to enter it: `connect(door, { dbname: door.dbname, … })`. */
export type DatabaseEndpoint = PostgresqlSource;

/** Objects are named as a person would write them; `copied` may still have something to say about what was left out. */
export type SchemaCopyResult =
  | { readonly kind: 'copied'; readonly by: string; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly objects: readonly string[] };

/**
 * Makes the schema of one database in an existing, empty other one, without rows.
 * Rejects when it could not be done now, or when the signal says so.
 */
export type SchemaCopier = (
  from: DatabaseEndpoint,
  to: DatabaseEndpoint,
  signal: AbortSignal,
) => Promise<SchemaCopyResult>;
