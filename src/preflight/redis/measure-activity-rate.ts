import type { Clock } from '../../platform/host.ts';
import { RedisCommandError } from '../../redis/command-error.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import type { RedisInfo } from '../../redis/info.ts';
import { computeRedisActivityRate, type OwnRedisTraffic } from './activity-rate.ts';
import { redisInfoQuery } from './queries/info.ts';
import type { RedisActivityRate } from './source-facts.ts';

export interface MeasuredRedisActivityRate {
  readonly rate: RedisActivityRate | undefined;
  /** Milliseconds spent waiting. */
  readonly waited: number;
}

export interface RedisActivityMeasurementOptions {
  readonly clock: Clock;
  /** Milliseconds between the two replies to INFO. */
  readonly interval: number;
  readonly signal: AbortSignal;
  /** Returns the bytes and commands that this program has sent so far. */
  readonly sent: () => OwnRedisTraffic;
}

/** Reads INFO twice, and runs `work` between the two readings. */
export async function measureRedisActivityRate(
  session: RedisConnection,
  { clock, interval, signal, sent }: RedisActivityMeasurementOptions,
  work: () => Promise<void>,
): Promise<MeasuredRedisActivityRate> {
  const read = async (): Promise<InfoReading | undefined> => {
    try {
      const reply = await session.send(redisInfoQuery.command({ user: 'default' }));
      // Another check reports a reply to INFO that has the wrong type.
      return typeof reply === 'string'
        ? { info: redisInfoQuery.decode(reply), at: clock.now(), sent: sent() }
        : undefined;
    } catch (error) {
      // The checks that use INFO report why INFO has no value.
      if (error instanceof RedisCommandError) return undefined;
      throw error;
    }
  };
  const before = await read();
  await work();
  if (before === undefined) return { rate: undefined, waited: 0 };
  const wait = Math.max(0, interval - (clock.now() - before.at));
  const waited = await clock.sleep(wait, signal).then(
    () => wait,
    () => undefined,
  );
  const after = waited === undefined ? undefined : await read();
  if (after === undefined) return { rate: undefined, waited: waited ?? 0 };
  const seconds = Math.max(1, after.at - before.at) / 1000;
  const own = {
    bytes: after.sent.bytes - before.sent.bytes,
    commands: after.sent.commands - before.sent.commands,
  };
  return { rate: computeRedisActivityRate(before.info, after.info, seconds, own), waited: waited ?? 0 };
}

interface InfoReading {
  readonly info: RedisInfo;
  /** Time of the reading in milliseconds since the epoch. */
  readonly at: number;
  readonly sent: OwnRedisTraffic;
}
