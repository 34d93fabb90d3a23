import { getPreflightQueryValue } from '../preflight/query.ts';
import type { CollectedRedisFacts } from '../preflight/redis/collect-redis-facts.ts';
import { createRedisPreflightEngine, type RedisPreflightEngine } from '../preflight/redis/engine.ts';
import { redisInfoQuery } from '../preflight/redis/queries/info.ts';
import { createResultCache } from './result-cache.ts';
import type { ServerConcurrencySlot } from './run-with-server-concurrency-slots.ts';
import { isTransientConnectionErrorCode, type SourceConnectionObservation } from './source-connection-observation.ts';

export type RedisPreflightEngineFactory = (
  slot: ServerConcurrencySlot,
  seen: SourceConnectionObservation,
) => RedisPreflightEngine;

/**
 * Engines of preflights of Redis sources. Each source has its own connection; the queries, the key sample and the
 * measurement of the activity are shared by the sources that have the same address and user.
 */
export function createRedisPreflightEngineFactory(): RedisPreflightEngineFactory {
  const collected = createResultCache<CollectedRedisFacts>(() => 1);
  return (slot, seen) => {
    const engine = createRedisPreflightEngine();
    return {
      ...engine,
      async open(run) {
        const opened = await engine.open(run);
        const { connection } = opened;
        if (connection.kind === 'refused') {
          seen.lacksPassword = connection.code === 'NOAUTH' && run.source.password === undefined;
          if (connection.phase === 'network' || isTransientConnectionErrorCode(connection.code))
            seen.unreachable = connection.message;
        }
        return opened;
      },
      async collectFacts(opened, run) {
        if (opened.session === undefined) return engine.collectFacts(opened, run);
        const { address, port, username, ssl } = opened.source;
        const { now: _now, accept: _accept, strict: _strict, ...relevant } = run.options;
        const key = JSON.stringify([address, port, username, ssl, relevant]);
        const { value, isOwn } = await collected(key, () => engine.collectFacts(opened, run)).catch(
          (error: unknown) => {
            // If this run queried the server itself, its session has ended already; otherwise this run waited for another
            // run, and ends its session here.
            opened.session?.end();
            throw error;
          },
        );
        const info = getPreflightQueryValue(value.results, redisInfoQuery);
        seen.server = info?.get('run_id') ?? `${address}:${port}`;
        slot.identify(seen.server);
        if (isOwn) return value;
        opened.session.end();
        const { host } = run.source;
        const own = { address: opened.address, tls: opened.tls, connection: opened.connection };
        return { ...value, waited: 0, facts: { ...value.facts, ...own, host, port: run.source.port } };
      },
    };
  };
}
