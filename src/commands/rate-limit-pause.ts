import type { DelayFunction } from '../api/rate-limit-wait.ts';
import { formatDuration } from '../base/text.ts';
import type { CommandContext } from '../context.ts';

/** Shows on stderr that the program waits `ms` milliseconds for the rate limit of the server. */
export function showRateLimitWait({ progress }: Pick<CommandContext, 'progress'>, ms: number): Promise<void> {
  return progress.show(`waiting ${formatDuration(ms)} for the rate limit`);
}

/** Creates the function that waits when the server's rate limit is reached: it shows the wait and sleeps. */
export function createRateLimitDelayWithProgress(context: Pick<CommandContext, 'progress' | 'host'>): DelayFunction {
  return async (ms) => {
    await showRateLimitWait(context, ms);
    await context.host.clock.sleep(ms);
  };
}
