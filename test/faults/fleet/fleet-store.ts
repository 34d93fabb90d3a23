import { existsSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { initializeSharedStore } from '../../../src/shared-store/initialize-shared-store.ts';
import { parseSharedStoreUrl } from '../../../src/shared-store/store-url.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startPgbouncer } from '../../fixtures/pgbouncer.ts';
import { type Postgres, type PostgresOptions, startPostgres } from '../../fixtures/postgres.ts';
import { eventually, type RedisServer, startRedis } from '../../fixtures/redis.ts';

/** A running server that machines share, as a fault test uses it. */
export interface FleetStore {
  readonly kind: FleetStoreKind;
  readonly url: string;
  readonly postgres?: Postgres;
  readonly redis?: RedisServer;
  /** Ends the server; it stays away until `start`. With `crash` as `kill -9` does, otherwise in the usual way. */
  end(how: 'crash' | 'shutdown'): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type FleetStoreKind = 'postgresql' | 'pgbouncer' | 'redis';

export interface FleetStoreOptions {
  /** Lines of redis.conf. */
  readonly redis?: readonly string[];
  /** The major version of PostgreSQL. */
  readonly version?: PostgresOptions['version'];
}

/** A PostgreSQL server whose members may only execute the functions; the one behind pgbouncer has a single connection. */
export async function startFleetStore(kind: FleetStoreKind, options: FleetStoreOptions = {}): Promise<FleetStore> {
  if (kind === 'redis') {
    const redis = await startRedis({ config: options.redis ?? ['appendonly yes', 'appendfsync always'] });
    const end: FleetStore['end'] = (how) => redis.end(how === 'crash' ? 'SIGKILL' : 'SIGTERM');
    const url = `redis://${redis.host}:${redis.port}/0`;
    return { kind, redis, url, end, start: () => redis.start(), stop: () => redis.stop() };
  }
  const postgres = await startPostgres({
    direct: true,
    settings: { max_connections: 400, fsync: 'on' },
    ...(options.version === undefined ? {} : { version: options.version }),
  });
  const owner = `postgres://postgres:${postgres.password}@127.0.0.1:${postgres.port}/postgres`;
  await initializeSharedStore(
    parseSharedStoreUrl(owner, () => undefined),
    'cloudctl_share_member',
  );
  await postgres.query("CREATE ROLE ci LOGIN PASSWORD 'ci-password' IN ROLE cloudctl_share_member");
  const control = { end: endPostgres(postgres), start: () => startAfterCrash(postgres) };
  if (kind === 'postgresql') {
    const url = `postgres://ci:ci-password@127.0.0.1:${postgres.port}/postgres`;
    return { kind, postgres, url, ...control, stop: () => postgres.stop() };
  }
  const pooler = await startPgbouncer({ server: { port: postgres.port, password: postgres.password } });
  const stop = async (): Promise<void> => {
    await pooler.stop();
    await postgres.stop();
  };
  const url = `postgres://postgres:${postgres.password}@127.0.0.1:${pooler.port}/postgres`;
  return { kind, postgres, url, ...control, stop };
}

function endPostgres(postgres: Postgres): FleetStore['end'] {
  return async (how) => {
    const pid = postgres.pid();
    process.kill(pid, how === 'crash' ? 'SIGKILL' : 'SIGINT');
    await eventually(() => !existsSync(`/proc/${pid}`), 'the end of the server');
  };
}

/** The processes of a killed server use its memory for a moment longer. */
async function startAfterCrash(postgres: Postgres): Promise<void> {
  for (const end = Date.now() + 10_000; ; ) {
    try {
      await postgres.start();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await after(100);
  }
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
