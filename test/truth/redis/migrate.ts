import { randomUUID } from 'node:crypto';
import { createEngine } from '../../../src/db/engine/engine.ts';
import { defaultLimits } from '../../../src/db/engine/input.ts';
import type { RedisEndpoint } from '../../../src/redis/endpoint.ts';
import type { RedisServer } from '../../fixtures/redis.ts';
import { type RedisClientOptions, sizes, sizesOfAll, withRedisClient } from './keys.ts';

export interface Plan {
  readonly connection: RedisEndpoint;
  readonly target: RedisServer;
  readonly into: RedisClientOptions;
  /** Where the application writes. */
  readonly primaries: readonly RedisClientOptions[];
  readonly databases: readonly number[];
  readonly patience: number;
}

/** Follows for real and looks whether it is true. Resolves with what did not hold. */
export async function migrate(plan: Plan): Promise<readonly string[]> {
  const { connection, target, into, patience } = plan;
  const engine = createEngine({
    now: Date.now,
    ports: {
      limits: {
        ...defaultLimits,
        pollInterval: 200,
        connectTimeout: 3000,
        outageTimeout: patience / 2,
        removalTimeout: 5000,
      },
    },
  });
  try {
    const scheme = target.ca === undefined ? 'redis' : 'rediss';
    const plane = await engine.openDataPlane(`${scheme}://${target.host}:${target.port}`);
    const migration = engine.start({
      id: randomUUID(),
      dataPlane: plane,
      source: {
        host: connection.host,
        port: connection.port,
        disableSsl: connection.ssl === 'disable',
        ...(connection.username === undefined ? {} : { username: connection.username }),
        ...(connection.password === undefined ? {} : { password: connection.password.reveal() }),
      },
      ignoreDbs: [],
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
    });
    if (typeof migration === 'string') return [`the request is refused: ${migration}`];
    for (const end = Date.now() + patience; Date.now() < end && migration.state().status === 'running'; ) await wait();
    const state = migration.state();
    if (state.status !== 'syncing') return [state.reason ?? `stood still: ${lastWord(target)}`];
    const ways = [...(await speak(plan)), ...(await equal(plan))];
    await migration.stop();
    // The target is the server of the application from here on.
    if (ways.length === 0) await withRedisClient(into, (session) => session.set('cloudctl:after', 'x'));
    return ways;
  } catch (error) {
    return [`${error instanceof Error ? error.message : error}`];
  } finally {
    await engine.close();
  }
}

/** The key that the application writes during the migration. */
export const canary = '{cloudctl}canary';

function wait(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

function lastWord(target: RedisServer): string {
  return (
    target
      .log()
      .trimEnd()
      .split('\n')
      .at(-1)
      ?.replace(/^.*? [*#-] /, '') ?? ''
  );
}

/** A canary in every database, as the application writes. */
async function speak({ primaries: [first], databases }: Plan): Promise<readonly string[]> {
  if (first === undefined) return [];
  const complaints: string[] = [];
  await withRedisClient(first, async (session) => {
    for (const db of databases) {
      if (databases.length > 1) await session.select(db);
      await session.set(canary, `in ${db}`).catch((error: Error) => {
        // Another server of the cluster has the slot of that key.
        if (!error.message.startsWith('MOVED')) complaints.push(`the application is told: ${error.message}`);
      });
    }
  });
  return complaints;
}

async function equal({ primaries, into, databases, patience }: Plan): Promise<readonly string[]> {
  for (const end = Date.now() + patience / 2; ; ) {
    const [here, there] = [await sizesOfAll(primaries), await sizes(into)];
    const canaries = await withRedisClient(into, async (session) => {
      const found: string[] = [];
      for (const db of databases) {
        if (databases.length > 1) await session.select(db);
        if ((await session.get(canary)) === `in ${db}`) found.push(`db${db}`);
      }
      return found;
    });
    if (here === there && canaries.length === databases.length) return [];
    if (Date.now() > end)
      return [`the source has ${here}, the target ${there}; canaries: ${canaries.join(' ') || 'none'}`];
    await wait();
  }
}
