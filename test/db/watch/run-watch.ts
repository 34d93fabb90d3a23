import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { WatchLimits } from '../../../src/db/watch/limits.ts';
import type { SourceBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import type { WatchRecord } from '../../../src/db/watch/record.ts';
import type { StatusSample, WatchPhase } from '../../../src/db/watch/sample.ts';
import { pollSource, type WatchedSource } from '../../../src/db/watch/source.ts';
import type { PollResult } from '../../../src/db/watch/watcher.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { expectSchema } from '../../fixtures/output-schemas.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import type { RedisServer } from '../../fixtures/redis.ts';

/** What takes a minute in life takes a second or two in a test. */
export const shortWatchLimits: Partial<WatchLimits> = {
  suspectedStop: 1000,
  silentReply: 13_000,
  missingSlot: 3000,
  inactiveSlot: 3000,
  failingApply: 2000,
  copyPause: 1500,
  unreachable: 2000,
  probeInterval: 500,
  maxBackoff: 500,
  sizeInterval: 500,
};

export interface WatchRun {
  readonly looks: readonly PollResult[];
  last(): StatusSample;
  /** The first sighting from now on, or the last one, that is so. */
  until(
    what: string,
    test: (sighting: StatusSample, looked: PollResult) => boolean,
    limit?: number,
  ): Promise<StatusSample>;
  untilPhase(phase: WatchPhase, limit?: number): Promise<StatusSample>;
  untilBroken(rule: string, limit?: number): Promise<StatusSample>;
  stop(): Promise<void>;
}

export interface WatchRunOptions {
  readonly limits?: Partial<WatchLimits>;
  readonly interval?: number;
  readonly record?: WatchRecord;
  readonly baseline?: SourceBaseline;
  readonly slots?: readonly string[];
  readonly ignoreDbs?: readonly string[];
}

/** Watches a real source beside the test, until its end. */
export function startWatchRun(watched: WatchedSource, options: WatchRunOptions = {}): WatchRun {
  const end = new AbortController();
  const looks: PollResult[] = [];
  let failure: unknown;
  const running = (async () => {
    const { interval = 150, ...rest } = options;
    const all = { ...rest, limits: { ...shortWatchLimits, ...options.limits }, clock: systemClock, signal: end.signal };
    for await (const looked of pollSource(watched, interval, all)) {
      expectSchema('db-watch-1.json', JSON.parse(JSON.stringify(looked.sample)));
      looks.push(looked);
    }
  })().catch((error: unknown) => {
    failure = error;
  });
  const stop = async () => {
    end.abort();
    await running;
  };
  onTestFinished(stop);
  const until: WatchRun['until'] = async (what, test, limit = 30_000) => {
    for (let at = Math.max(0, looks.length - 1), over = Date.now() + limit; ; await sleep(20)) {
      for (; at < looks.length; at += 1) if (test(looks[at]!.sample, looks[at]!)) return looks[at]!.sample;
      if (failure !== undefined) throw failure;
      if (Date.now() > over) {
        const { databases: _databases, ...last } = looks.at(-1)?.sample ?? { databases: [] };
        throw new Error(`it was never seen: ${what}\n${JSON.stringify(last, null, 1)}`);
      }
    }
  };
  return {
    looks,
    last: () => looks.at(-1)!.sample,
    until,
    untilPhase: (phase, limit) => until(phase, (seen) => seen.phase === phase, limit),
    untilBroken: (rule, limit) => until(rule, (seen) => seen.violations.some((one) => one.rule === rule), limit),
    stop,
  };
}

export function watchedPostgres(
  { host, port, password: own }: Pick<Postgres, 'host' | 'port' | 'password'>,
  dbname: string,
  { username = 'postgres', password = own } = {},
): WatchedSource {
  const source = { host, port, dbname, username, password: new Secret(password), ssl: 'disable' } as const;
  return { engine: 'postgresql', source };
}

export function watchedRedis(
  { host, port }: Pick<RedisServer, 'host' | 'port'>,
  password?: string,
  username?: string,
): WatchedSource {
  const secret = password === undefined ? undefined : new Secret(password);
  const source = { host, port, username, password: secret, db: undefined, ssl: 'disable' } as const;
  return { engine: 'redis', source };
}
