import type { PostgresqlSource } from '../postgresql/source.ts';

/** One database with its connection options. */
export type DatabaseEndpoint = PostgresqlSource;

/** A superuser of the target, for the objects that the login of the copy cannot create. */
export interface SuperuserAccess {
  readonly endpoint: DatabaseEndpoint;
  /** Role of the login that copies. */
  readonly owner: string;
  /** Objects other than trusted extensions may be created too; code of the source can then run as a superuser. */
  readonly allowObjects: boolean;
}

/**
 * `lastStatements` are for the superuser, after everything else. `copied`: with warnings about what was left out.
 * `refused`: nothing but extensions was created; `objects` names what stands in the way.
 */
export type SchemaCopyResult =
  | {
      readonly kind: 'copied';
      readonly by: string;
      readonly warnings: readonly string[];
      readonly lastStatements?: readonly string[];
    }
  | { readonly kind: 'refused'; readonly objects: readonly string[] };

/**
 * Copies a schema, without rows, into an existing empty database.
 * @param superuser absent: everything is done by the login of the target
 * Rejects when a server or pg_dump fails, or when the signal is aborted.
 */
export type SchemaCopier = (
  from: DatabaseEndpoint,
  to: DatabaseEndpoint,
  signal: AbortSignal,
  superuser?: SuperuserAccess,
) => Promise<SchemaCopyResult>;
