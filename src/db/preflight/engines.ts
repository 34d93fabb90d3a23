export type { AddressFacts } from './network/addresses.ts';
export type { CollectedPostgresqlFacts } from './postgresql/collect.ts';
export { createPostgresqlEngine, type PostgresqlEngine, runPostgresqlPreflight } from './postgresql/run.ts';
export type { OpenedPostgresql } from './postgresql/source.ts';
export type { DatabaseAccess, WalRate } from './postgresql/source-facts.ts';
export { queryValue } from './query.ts';
export type { CollectedRedisFacts } from './redis/collect.ts';
export { createRedisEngine, type RedisEngine } from './redis/engine.ts';
export type { OpenedSource } from './redis/source.ts';
