import { afterAll, beforeAll, describe } from 'vitest';
import { prepareSharedStore } from '../../../src/shared-store/prepare-shared-store.ts';
import { parseSharedStoreUrl } from '../../../src/shared-store/store-url.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startPgbouncer } from '../../fixtures/pgbouncer.ts';
import { type Postgres, startPostgres } from '../../fixtures/postgres.ts';
import { type RedisServer, startRedis } from '../../fixtures/redis.ts';

/** A running server that machines share, as a fault test uses it. */
export interface FleetStore {
  readonly kind: FleetStoreKind;
  readonly url: string;
  readonly postgres?: Postgres;
  readonly redis?: RedisServer;
  stop(): Promise<void>;
}

export type FleetStoreKind = 'postgresql' | 'pgbouncer' | 'redis';

/** A PostgreSQL server whose members may only execute the functions; the one behind pgbouncer has a single connection. */
export async function startFleetStore(kind: FleetStoreKind): Promise<FleetStore> {
  if (kind === 'redis') {
    const redis = await startRedis({ config: ['appendonly yes', 'appendfsync always'] });
    return { kind, redis, url: `redis://${redis.host}:${redis.port}/0`, stop: () => redis.stop() };
  }
  const postgres = await startPostgres({ direct: true, settings: { max_connections: 120 } });
  const owner = `postgres://postgres:${postgres.password}@127.0.0.1:${postgres.port}/postgres`;
  await prepareSharedStore(
    parseSharedStoreUrl(owner, () => undefined),
    'cloudctl_share_member',
  );
  await postgres.query("CREATE ROLE ci LOGIN PASSWORD 'ci-password' IN ROLE cloudctl_share_member");
  if (kind === 'postgresql') {
    const url = `postgres://ci:ci-password@127.0.0.1:${postgres.port}/postgres`;
    return { kind, postgres, url, stop: () => postgres.stop() };
  }
  const pooler = await startPgbouncer({ server: { port: postgres.port, password: postgres.password } });
  const stop = async (): Promise<void> => {
    await pooler.stop();
    await postgres.stop();
  };
  return { kind, postgres, url: `postgres://postgres:${postgres.password}@127.0.0.1:${pooler.port}/postgres`, stop };
}

const needs: Readonly<Record<FleetStoreKind, readonly string[]>> = {
  postgresql: [],
  pgbouncer: ['pgbouncer'],
  redis: ['redis-server'],
};

/** The same tests with each store. */
export function describeFleetStores(
  what: string,
  tests: (store: () => FleetStore) => void,
  kinds: readonly FleetStoreKind[] = ['postgresql', 'redis', 'pgbouncer'],
): void {
  for (const kind of kinds) {
    describe.skipIf(lacks(...needs[kind]))(`${what}, with ${kind}`, () => {
      let store: FleetStore | undefined;
      beforeAll(async () => {
        store = await startFleetStore(kind);
      });
      afterAll(() => store?.stop());
      tests(() => {
        if (store === undefined) throw new Error('the store was not started');
        return store;
      });
    });
  }
}
