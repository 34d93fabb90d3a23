import type { PostgresqlSource } from '../postgresql/source.ts';

/** One database with its connection options. */
export type DatabaseEndpoint = PostgresqlSource;

/** `copied`: with warnings about what was left out. `refused`: nothing was created; `objects` names what stands in the way. */
export type SchemaCopyResult =
  | { readonly kind: 'copied'; readonly by: string; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly objects: readonly string[] };

/**
 * Copies a schema, without rows, into an existing empty database.
 * Rejects when a server or pg_dump fails, or when the signal is aborted.
 */
export type SchemaCopier = (
  from: DatabaseEndpoint,
  to: DatabaseEndpoint,
  signal: AbortSignal,
) => Promise<SchemaCopyResult>;
