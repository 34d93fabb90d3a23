import type { PostgresSource } from '../postgresql/source.ts';

/** One database and how to enter it: `connect(door, { dbname: door.dbname, … })`. */
export type DatabaseDoor = PostgresSource;

/** Objects are named as a person would write them; `copied` may still have something to say about what was left out. */
export type SchemaCopied =
  | { readonly kind: 'copied'; readonly by: string; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly objects: readonly string[] };

/**
 * Makes the schema of one database in an existing, empty other one, without rows.
 * Rejects when it could not be done now, or when the signal says so.
 */
export type SchemaCopy = (from: DatabaseDoor, to: DatabaseDoor, signal: AbortSignal) => Promise<SchemaCopied>;
