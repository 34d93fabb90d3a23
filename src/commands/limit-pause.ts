import type { Pause } from '../api/patience.ts';
import { formatDuration } from '../cli/duration.ts';
import type { Context } from '../context.ts';

/** Says that the rate limit of the server is waited for. Milliseconds. */
export function tellLimit({ progress }: Pick<Context, 'progress'>, ms: number): Promise<void> {
  return progress.show(`waiting ${formatDuration(Math.ceil(ms / 1_000) * 1_000)} for the rate limit`);
}

/** Says so and waits. */
export function limitPause(context: Pick<Context, 'progress' | 'host'>): Pause {
  return async (ms) => {
    await tellLimit(context, ms);
    await context.host.clock.sleep(ms);
  };
}
