import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import { Secret } from '../../src/secret.ts';
import type { Limits } from '../../src/watch/limits.ts';
import type { MigrationRecord } from '../../src/watch/record.ts';
import type { Phase, Sighting } from '../../src/watch/sighting.ts';
import { type WatchedSource, watch } from '../../src/watch/watch.ts';
import type { Looked } from '../../src/watch/watcher.ts';
import type { Postgres } from '../fixtures/postgres.ts';
import type { RedisServer } from '../fixtures/redis.ts';

/** What takes a minute in life takes a second or two in a test. */
export const shortened: Partial<Limits> = {
  inactive: 3000,
  stuck: 2000,
  quiet: 1500,
  gone: 2000,
  door: 500,
  backoff: 500,
  sizes: 500,
};

export interface Following {
  readonly looks: readonly Looked[];
  last(): Sighting;
  /** The first sighting from now on, or the last one, that is so. */
  until(what: string, test: (sighting: Sighting, looked: Looked) => boolean, limit?: number): Promise<Sighting>;
  untilPhase(phase: Phase, limit?: number): Promise<Sighting>;
  untilBroken(rule: string, limit?: number): Promise<Sighting>;
  stop(): Promise<void>;
}

export interface FollowOptions {
  readonly limits?: Partial<Limits>;
  readonly interval?: number;
  readonly record?: MigrationRecord;
  readonly slots?: readonly string[];
  readonly ignoreDbs?: readonly string[];
}

/** Watches a real source beside the test, until its end. */
export function followSource(watched: WatchedSource, options: FollowOptions = {}): Following {
  const end = new AbortController();
  const looks: Looked[] = [];
  let failure: unknown;
  const running = (async () => {
    const { interval = 150, ...rest } = options;
    const all = { ...rest, limits: { ...shortened, ...options.limits }, clock: systemClock, signal: end.signal };
    for await (const looked of watch(watched, interval, all)) looks.push(looked);
  })().catch((error: unknown) => {
    failure = error;
  });
  const stop = async () => {
    end.abort();
    await running;
  };
  onTestFinished(stop);
  const until: Following['until'] = async (what, test, limit = 30_000) => {
    for (let at = Math.max(0, looks.length - 1), over = Date.now() + limit; ; await sleep(20)) {
      for (; at < looks.length; at += 1) if (test(looks[at]!.sighting, looks[at]!)) return looks[at]!.sighting;
      if (failure !== undefined) throw failure;
      if (Date.now() > over) {
        const { databases: _databases, ...last } = looks.at(-1)?.sighting ?? { databases: [] };
        throw new Error(`it was never seen: ${what}\n${JSON.stringify(last, null, 1)}`);
      }
    }
  };
  return {
    looks,
    last: () => looks.at(-1)!.sighting,
    until,
    untilPhase: (phase, limit) => until(phase, (seen) => seen.phase === phase, limit),
    untilBroken: (rule, limit) => until(rule, (seen) => seen.violations.some((one) => one.rule === rule), limit),
    stop,
  };
}

export function sourceOfPostgres(
  { host, port, password: own }: Pick<Postgres, 'host' | 'port' | 'password'>,
  dbname: string,
  { username = 'postgres', password = own } = {},
): WatchedSource {
  const source = { host, port, dbname, username, password: new Secret(password), ssl: 'disable' } as const;
  return { engine: 'postgresql', source };
}

export function sourceOfRedis({ host, port }: Pick<RedisServer, 'host' | 'port'>, password?: string): WatchedSource {
  const secret = password === undefined ? undefined : new Secret(password);
  const source = { host, port, username: undefined, password: secret, db: undefined, ssl: 'disable' } as const;
  return { engine: 'redis', source };
}
