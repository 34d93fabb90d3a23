import type { Pause } from '../api/rate-limit-retry.ts';
import { formatDuration } from '../cli/duration.ts';
import type { Context } from '../context.ts';

/** Says that the rate limit of the server is waited for. Milliseconds. */
export function showRateLimitWait({ progress }: Pick<Context, 'progress'>, ms: number): Promise<void> {
  return progress.show(`waiting ${formatDuration(Math.ceil(ms / 1_000) * 1_000)} for the rate limit`);
}

/** Says so and waits. */
export function createRateLimitPause(context: Pick<Context, 'progress' | 'host'>): Pause {
  return async (ms) => {
    await showRateLimitWait(context, ms);
    await context.host.clock.sleep(ms);
  };
}
