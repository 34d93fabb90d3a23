import type { Clock } from '../../platform/host.ts';
import { CommandError } from '../../redis/command-error.ts';
import type { RedisCommand, RedisSession } from '../../redis/connection.ts';
import type { RedisInfo } from '../../redis/info.ts';
import { activityRateOf, type SentTraffic } from './activity-rate.ts';
import { infoQuery } from './queries/info.ts';
import type { RedisActivityRate } from './source-facts.ts';

export interface MeasuredActivityRate {
  readonly rate: RedisActivityRate | undefined;
  /** Milliseconds that were only waited for. */
  readonly waited: number;
}

export interface RateMeasurementOptions {
  readonly clock: Clock;
  /** Milliseconds between the two readings. */
  readonly interval: number;
  readonly signal: AbortSignal;
  /** Sends nothing by itself: hears what is sent. */
  readonly heard: (words: RedisCommand) => void;
  /** So far. */
  readonly sent: () => SentTraffic;
}

/** Two readings of INFO; `meanwhile` uses the time in between, whatever becomes of them. */
export async function measureActivityRate(
  session: RedisSession,
  { clock, interval, signal, heard, sent }: RateMeasurementOptions,
  meanwhile: () => Promise<void>,
): Promise<MeasuredActivityRate> {
  const read = async (): Promise<Reading | undefined> => {
    const words = infoQuery.command({ user: 'default' });
    heard(words);
    const said = sent();
    try {
      const reply = await session.send(words);
      // What is no text has a finding as well.
      return typeof reply === 'string' ? { facts: infoQuery.decode(reply), at: clock.now(), said } : undefined;
    } catch (error) {
      // The checks that ask INFO tell why it has no answer.
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  };
  const before = await read();
  await meanwhile();
  if (before === undefined) return { rate: undefined, waited: 0 };
  const wait = Math.max(0, interval - (clock.now() - before.at));
  const waited = await clock.sleep(wait, signal).then(
    () => wait,
    () => undefined,
  );
  const after = waited === undefined ? undefined : await read();
  if (after === undefined) return { rate: undefined, waited: waited ?? 0 };
  const seconds = Math.max(1, after.at - before.at) / 1000;
  return {
    rate: activityRateOf(before.facts, after.facts, seconds, between(before.said, after.said)),
    waited: waited ?? 0,
  };
}

interface Reading {
  readonly facts: RedisInfo;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of ours, before it. */
  readonly said: SentTraffic;
}

function between(before: SentTraffic, after: SentTraffic): SentTraffic {
  return { bytes: after.bytes - before.bytes, commands: after.commands - before.commands };
}
