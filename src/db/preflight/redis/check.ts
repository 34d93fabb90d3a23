import {
  type ServerPreflightCheck,
  selectBlockableMigrationMethods,
  withOnlyDeclaredMethodsBlockedAssertion,
} from '../check.ts';
import type { MigrationMethod } from '../finding.ts';
import type { PreflightCheckQueries } from '../query.ts';
import type { RedisSourceFacts } from './source-facts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the list of checks holds different queries; each was typed where it was written.
export type RedisCheck<Q extends PreflightCheckQueries = any> = ServerPreflightCheck<RedisSourceFacts, Q>;

/** The migration methods of Redis, best first. */
export const redisMigrationMethods: readonly MigrationMethod[] = ['continuous', 'scan'];

/** Declares a Redis check; the types of the values in `evaluate` follow from its queries. */
export function declareRedisPreflightCheck<Q extends PreflightCheckQueries>(
  check: Omit<RedisCheck<Q>, 'scope' | 'mayBlock'>,
): RedisCheck<Q> {
  const mayBlock = selectBlockableMigrationMethods(check.severity, redisMigrationMethods);
  return {
    ...check,
    scope: 'server',
    mayBlock,
    evaluate: withOnlyDeclaredMethodsBlockedAssertion(check.id, mayBlock, check.evaluate),
  };
}
