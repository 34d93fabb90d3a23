import type { CheckOutcome, MigrationMethod } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { RedisQueries, RedisQueryValues } from './query.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** A judge is pure: facts in, one outcome out. It runs only when every question it cannot do without was answered. */
export interface RedisCheck<A extends RedisQueries = RedisQueries> {
  readonly id: string;
  /** What is true when it passes. */
  readonly title: string;
  readonly spec?: string;
  /** What must stand before the check makes sense. `address`: nothing; `entry`: the server let us in. */
  readonly needs: 'address' | 'entry';
  /** The methods a `fail` of it may block. */
  readonly mayBlock: readonly MigrationMethod[];
  readonly queries: A;
  readonly evaluate: (values: RedisQueryValues<A>, ground: RedisSourceFacts, wish: PreflightOptions) => CheckOutcome;
}

// biome-ignore lint/suspicious/noExplicitAny: the catalogue holds checks with different questions; each was typed where it was written.
export type AnyRedisCheck = RedisCheck<any>;

/** Gives the judge the types of its own questions. */
export function redisCheck<A extends RedisQueries>(written: RedisCheck<A>): RedisCheck<A> {
  return written;
}

/** Both ways a Redis can be migrated, best first. */
export const redisMethods: readonly MigrationMethod[] = ['continuous', 'scan'];
