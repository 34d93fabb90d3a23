/** What a query of either engine has in common: a name for `--show-queries`, and a decoder that throws on another shape. */
export interface DecodedQuery<T> {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows of PostgreSQL or a reply of Redis; each engine has its own type.
  readonly decode: (response: any) => T;
}

/** What became of a query. */
export type QueryResult<T> =
  | { readonly kind: 'known'; readonly value: T }
  /** Permission denied; `grant` is the statement that would allow it, `revoke` the one that takes it back, where known. */
  | { readonly kind: 'denied'; readonly reason: string; readonly grant: string; readonly revoke?: string }
  /** The server does not have it: too old, renamed, or hidden by a provider. */
  | { readonly kind: 'missing'; readonly reason: string }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** The connection was lost with it. */
      readonly broke?: boolean;
      /** No response arrived in time. */
      readonly late?: boolean;
      /** The response has another format than that of the engine. */
      readonly isMalformed?: boolean;
    }
  /** Never sent, or refused for a reason that has its own finding. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** A query whose check also works without its value: `evaluate` receives the result, whatever it is. */
export interface OptionalQuery<T> {
  readonly optional: DecodedQuery<T>;
}

/** The queries of a check, by the name under which `evaluate` receives their values. */
// biome-ignore lint/suspicious/noExplicitAny: queries of any value; each check sees its own types.
export type Queries = Readonly<Record<string, DecodedQuery<any> | OptionalQuery<any>>>;

/** The values of the queries of a check: every required one is known. */
export type QueryValues<Q extends Queries> = {
  readonly [K in keyof Q]: Q[K] extends OptionalQuery<infer T>
    ? QueryResult<T>
    : Q[K] extends DecodedQuery<infer T>
      ? T
      : never;
};

// biome-ignore lint/suspicious/noExplicitAny: results of any type, each under its own query.
export type QueryResults = ReadonlyMap<DecodedQuery<any>, QueryResult<unknown>>;

export function optionalQuery<T>(query: DecodedQuery<T>): OptionalQuery<T> {
  return { optional: query };
}

/** The value of a result, or what to use instead. */
export function queryValueOr<T, U>(result: QueryResult<T>, otherwise: U): T | U {
  return result.kind === 'known' ? result.value : otherwise;
}

/** The value of a query; undefined when it is not known. */
export function knownQueryValue<T>(results: QueryResults, query: DecodedQuery<T>): T | undefined {
  const result = results.get(query);
  // The map holds what the decoder of this query returned.
  return result?.kind === 'known' ? (result.value as T) : undefined;
}
