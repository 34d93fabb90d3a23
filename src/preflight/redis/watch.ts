import type { Clock } from '../../platform/host.ts';
import type { RedisSession, Words } from '../../redis/connection.ts';
import { CommandError } from '../../redis/failure.ts';
import type { Info } from '../../redis/info.ts';
import { info } from './asks/info.ts';
import type { Rate } from './ground.ts';
import { rateOf, type Said } from './rate.ts';

export interface Watched {
  readonly rate: Rate | undefined;
  /** Milliseconds that were only waited for. */
  readonly waited: number;
}

export interface Watching {
  readonly clock: Clock;
  /** Milliseconds between the two readings. */
  readonly interval: number;
  readonly signal: AbortSignal;
  /** Sends nothing by itself: hears what is sent. */
  readonly heard: (words: Words) => void;
  /** So far. */
  readonly sent: () => Said;
}

/** Two readings of INFO; `meanwhile` uses the time in between, whatever becomes of them. */
export async function watchRate(
  session: RedisSession,
  { clock, interval, signal, heard, sent }: Watching,
  meanwhile: () => Promise<void>,
): Promise<Watched> {
  const read = async (): Promise<Reading | undefined> => {
    const words = info.words({ user: 'default' });
    heard(words);
    const said = sent();
    try {
      const reply = await session.send(words);
      // What is no text has a finding as well.
      return typeof reply === 'string' ? { facts: info.decode(reply), at: clock.now(), said } : undefined;
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
  return { rate: rateOf(before.facts, after.facts, seconds, between(before.said, after.said)), waited: waited ?? 0 };
}

interface Reading {
  readonly facts: Info;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of ours, before it. */
  readonly said: Said;
}

function between(before: Said, after: Said): Said {
  return { bytes: after.bytes - before.bytes, commands: after.commands - before.commands };
}
