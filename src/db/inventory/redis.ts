import {
  type CollectedRedisFacts,
  createRedisEngine,
  type OpenedSource,
  queryValue,
  type RedisEngine,
} from '../preflight/engines.ts';
import { infoQuery } from '../preflight/queries.ts';
import {
  type ConnectionResult,
  createUnreachableServers,
  describeUnreachableAddress,
  isTransient,
} from './connection.ts';
import type { Slot } from './limits.ts';
import { createResultCache } from './result-cache.ts';

type OpenedRedis = Awaited<ReturnType<RedisEngine['open']>>;

export type RedisEngines = (slot: Slot, seen: ConnectionResult) => RedisEngine;

/**
 * Engines of preflights of Redis sources. Each source has its own connection; the queries, the key sample and the
 * measurement of the activity are shared by the sources that have the same address and user.
 */
export function createRedisEngines(): RedisEngines {
  const collected = createResultCache<CollectedRedisFacts>(() => 1);
  const unreachable = createUnreachableServers<OpenedRedis>();
  return (slot, seen) => {
    const engine = createRedisEngine();
    return {
      ...engine,
      async open(run) {
        const { host, port, ssl } = run.source;
        const server = JSON.stringify([host, port, ssl]);
        const known = unreachable.find(server);
        const opened = known === undefined ? await engine.open(run) : { ...known, source: run.source };
        observe(opened, run.source.password !== undefined, seen);
        if (known === undefined && !run.signal.aborted) unreachable.add(server, opened, seen.unreachable !== undefined);
        return opened;
      },
      async collectFacts(opened, run) {
        if (opened.session === undefined) return engine.collectFacts(opened, run);
        const { address, port, username, ssl } = opened.source;
        const { now: _now, accept: _accept, strict: _strict, ...relevant } = run.options;
        const key = JSON.stringify([address, port, username, ssl, relevant]);
        const { value, isOwn } = await collected(
          key,
          () => engine.collectFacts(opened, run),
          ({ facts }) => !run.signal.aborted && facts.broken === undefined,
        ).catch((error: unknown) => {
          // The run whose queries failed has ended its own session; a run that waited for it ends its session here.
          opened.session?.end();
          throw error;
        });
        const info = queryValue(value.results, infoQuery);
        seen.server = info?.get('run_id') ?? `${address}:${port}`;
        slot.identify(seen.server);
        const { broken } = value.facts;
        if (broken !== undefined) seen.unreachable = `the connection was lost during the queries: ${broken}`;
        if (isOwn) return value;
        opened.session.end();
        const { host } = run.source;
        const own = { address: opened.address, tls: opened.tls, connection: opened.connection };
        return { ...value, waited: 0, facts: { ...value.facts, ...own, host, port: run.source.port } };
      },
    };
  };
}

function observe({ address, connection }: OpenedSource, hasPassword: boolean, seen: ConnectionResult): void {
  if (connection.kind !== 'refused') return;
  seen.lacksPassword = connection.code === 'NOAUTH' && !hasPassword;
  if (connection.phase !== 'network' && !isTransient(connection.code)) return;
  seen.unreachable = describeUnreachableAddress(address) ?? connection.message;
}
