import { countOf } from '../../../base/text.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';

/** How many keys one run of a Redis server had when it was read. */
export interface RunKeys {
  /** `run_id`, which every start of the server changes. */
  readonly run: string;
  readonly keys: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A run of the server that has far fewer keys than the one before it. */
export interface LostKeys {
  readonly before: RunKeys;
  readonly now: RunKeys;
}

/** Undefined while the server loads its data, because the keys come one by one then. */
export function readRunKeys(info: RedisInfo, at: number): RunKeys | undefined {
  const run = info.get('run_id');
  if (run === undefined || (infoNumber(info, 'loading') ?? 0) !== 0) return undefined;
  return { run, keys: parseKeyspace(info).reduce((sum, { keys }) => sum + keys, 0), at };
}

/**
 * A server without persistence starts empty, and its replica then deletes what it has. Fewer than half of the keys cannot be
 * those that expired meanwhile.
 */
export function findLostKeys(before: RunKeys | undefined, now: RunKeys | undefined): LostKeys | undefined {
  if (before === undefined || now === undefined || before.run === now.run || 2 * now.keys >= before.keys)
    return undefined;
  return { before, now };
}

/** What is compared with the next reading: a run that has lost its keys does not replace the one that had them. */
export function keepRunKeys(before: RunKeys | undefined, now: RunKeys | undefined): RunKeys | undefined {
  return now === undefined || findLostKeys(before, now) !== undefined ? before : now;
}

export function describeLostKeys({ before, now }: LostKeys): string {
  const at = new Date(before.at).toISOString().slice(0, 19);
  return `the source was restarted and has lost keys: it had ${countOf(before.keys, 'key')} at ${at}Z, and the new run (${now.run.slice(0, 8)}) has ${now.keys}; a replica deletes what its source has not, so the target loses them too`;
}
