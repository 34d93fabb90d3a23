import { assertDeclaredBlocks, blockableMethods, type ServerCheck } from '../check.ts';
import type { MigrationMethod } from '../finding.ts';
import type { CheckQueries } from '../query.ts';
import type { RedisSourceFacts } from './source.ts';

// biome-ignore lint/suspicious/noExplicitAny: the list of checks holds different queries; each was typed where it was written.
export type RedisCheck<Q extends CheckQueries = any> = ServerCheck<RedisSourceFacts, Q>;

/** The migration methods of Redis, best first. */
export const redisMethods: readonly MigrationMethod[] = ['continuous', 'scan'];

/** Declares a Redis check; the types of the values in `evaluate` follow from its queries. */
export function declareRedisCheck<Q extends CheckQueries>(
  check: Omit<RedisCheck<Q>, 'scope' | 'mayBlock'>,
): RedisCheck<Q> {
  const mayBlock = blockableMethods(check.severity, redisMethods);
  return {
    ...check,
    scope: 'server',
    mayBlock,
    evaluate: assertDeclaredBlocks(check.id, mayBlock, check.evaluate),
  };
}
