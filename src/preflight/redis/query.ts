import type { RedisCommand, RedisReply } from '../../redis/connection.ts';

/** One read-only command. All of them travel together, and one that is denied or unknown harms no other. */
export interface RedisQuery<T> {
  /** As in `--show-queries`: `CONFIG GET repl-*`. */
  readonly id: string;
  readonly command: (context: RedisQueryContext) => RedisCommand;
  /** Throws when the reply has another shape. */
  readonly decode: (reply: RedisReply) => T;
  /** What a user needs to be allowed to ask it, as ACL SETUSER takes it: `+config|get`. */
  readonly permission: string;
}

export interface RedisQueryContext {
  /** The user we are: `default` unless AUTH was said with another name. */
  readonly user: string;
}

/** What became of a question. */
export type RedisQueryResult<T> =
  | { readonly kind: 'known'; readonly value: T }
  /** NOPERM; `grant` is the line of redis-cli that would let us ask, `revoke` the one that takes it back, where that is known. */
  | { readonly kind: 'denied'; readonly reason: string; readonly grant: string; readonly revoke?: string }
  /** The server does not know the command: too old, renamed, or hidden by a provider. */
  | { readonly kind: 'missing'; readonly reason: string }
  /** `broke`: the connection is gone with it; `late`: because no answer came in time. */
  | { readonly kind: 'failed'; readonly reason: string; readonly broke: boolean; readonly late?: boolean }
  /** Never asked, or refused because of something that has its own finding. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** A question whose judge can do without: it sees the answer, whatever became of it. */
export interface OptionalRedisQuery<T> {
  readonly maybe: RedisQuery<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of questions with answers of any type; each judge sees its own types.
export type RedisQueries = Readonly<Record<string, RedisQuery<any> | OptionalRedisQuery<any>>>;

/** The values of the asks of a check. */
export type RedisQueryValues<A extends RedisQueries> = {
  readonly [K in keyof A]: A[K] extends OptionalRedisQuery<infer T>
    ? RedisQueryResult<T>
    : A[K] extends RedisQuery<infer T>
      ? T
      : never;
};

export function optionalQuery<T>(ask: RedisQuery<T>): OptionalRedisQuery<T> {
  return { maybe: ask };
}

/** The value, or what to take instead. */
export function resultOr<T, U>(answer: RedisQueryResult<T>, otherwise: U): T | U {
  return answer.kind === 'known' ? answer.value : otherwise;
}
