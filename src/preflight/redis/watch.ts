import type { Clock } from '../../platform/host.ts';
import type { RedisSession, Words } from '../../redis/connection.ts';
import { CommandError } from '../../redis/failure.ts';
import type { Info } from '../../redis/info.ts';
import { info } from './asks/info.ts';
import type { Rate } from './ground.ts';
import { rateOf } from './rate.ts';

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
  /** Bytes sent so far, all of ours. */
  readonly sent: () => number;
}

/** Two readings of INFO; `meanwhile` uses the time in between. */
export async function watchRate(
  session: RedisSession,
  { clock, interval, signal, heard, sent }: Watching,
  meanwhile: () => Promise<void>,
): Promise<Watched> {
  const read = async (): Promise<{ readonly at: number; readonly facts: Info; readonly sent: number }> => {
    const words = info.words({ user: 'default' });
    heard(words);
    const bytes = sent();
    const facts = info.decode(await session.send(words));
    return { at: clock.now(), facts, sent: bytes };
  };
  try {
    const before = await read();
    await meanwhile();
    const waited = Math.max(0, interval - (clock.now() - before.at));
    await clock.sleep(waited, signal);
    const after = await read();
    const seconds = Math.max(1, after.at - before.at) / 1000;
    return { rate: rateOf(before.facts, after.facts, seconds, after.sent - before.sent), waited };
  } catch (error) {
    // What the session lost is told by the checks that asked it; a signal that ends the wait ends the watching.
    if (error instanceof CommandError || signal.aborted) return { rate: undefined, waited: 0 };
    throw error;
  }
}
