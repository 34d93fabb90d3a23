import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';

/** A superuser of the target, for objects that the login of the copy cannot create. */
export interface TargetSuperuserLogin {
  readonly endpoint: PostgresqlEndpoint;
  /** The role of the login that copies the schema. */
  readonly owner: string;
  /**
   * Whether objects other than trusted extensions may be created too; code of the source can then run as a superuser.
   */
  readonly allowObjects: boolean;
}

/**
 * `lastStatements`: statements that the superuser must run after everything else. `copied`: the schema was copied, with
 * warnings about the objects that were left out. `refused`: nothing but extensions was created; `objects` names the
 * objects that cannot be created.
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
 * Copies a schema, without rows, into an existing empty database. Rejects when a server or pg_dump fails, or when the
 * signal is aborted.
 * @param superuser absent: the login of the target runs all statements
 */
export type SchemaCopier = (
  from: PostgresqlEndpoint,
  to: PostgresqlEndpoint,
  signal: AbortSignal,
  superuser?: TargetSuperuserLogin,
) => Promise<SchemaCopyResult>;
