/**
 * A preflight query of PostgreSQL or Redis: an id for `--show-queries`, and a decoder that throws when the response has
 * an unexpected structure.
 */
export interface PreflightQuery<T> {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows of PostgreSQL or a reply of Redis; each engine has its own type.
  readonly decode: (response: any) => T;
}

/** The result of a preflight query, or why there is none. */
export type QueryResult<T> =
  | { readonly kind: 'known'; readonly value: T }
  /** Permission denied; `grant` is the statement that would allow it, `revoke` the one that takes it back, where known. */
  | { readonly kind: 'denied'; readonly reason: string; readonly grant: string; readonly revoke?: string }
  /** The server does not have it: too old, renamed, or hidden by a provider. */
  | { readonly kind: 'missing'; readonly reason: string }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** The connection was lost while the query ran. */
      readonly broke?: boolean;
      /** No response to the query arrived within the time limit. */
      readonly late?: boolean;
      /** The response to the query does not have the expected format. */
      readonly isMalformed?: boolean;
    }
  /** Never sent, or refused for a reason that has its own finding. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** A query that its check does not require: `evaluate` receives the result even if it has no value. */
export interface OptionalQuery<T> {
  readonly optional: PreflightQuery<T>;
}

/** The queries of a check, by the name under which `evaluate` receives their values. */
// biome-ignore lint/suspicious/noExplicitAny: queries of any value; each check sees its own types.
export type CheckQueries = Readonly<Record<string, PreflightQuery<any> | OptionalQuery<any>>>;

/** The values of the queries of a check; every required query has a value. */
export type CheckValues<Q extends CheckQueries> = {
  readonly [K in keyof Q]: Q[K] extends OptionalQuery<infer T>
    ? QueryResult<T>
    : Q[K] extends PreflightQuery<infer T>
      ? T
      : never;
};

// biome-ignore lint/suspicious/noExplicitAny: results of any type, each under its own query.
export type QueryResults = ReadonlyMap<PreflightQuery<any>, QueryResult<unknown>>;

export function markOptional<T>(query: PreflightQuery<T>): OptionalQuery<T> {
  return { optional: query };
}

/** The value of a query result, or `otherwise` if the result has no value. */
export function valueOr<T, U>(result: QueryResult<T>, otherwise: U): T | U {
  return result.kind === 'known' ? result.value : otherwise;
}

/** The value of a query; undefined if it is not known. */
export function queryValue<T>(results: QueryResults, query: PreflightQuery<T>): T | undefined {
  const result = results.get(query);
  // The cast is safe: the map holds what the decoder of this query returned.
  return result?.kind === 'known' ? (result.value as T) : undefined;
}
