import { formatDuration } from '../cli/duration.ts';
import type { Context } from '../context.ts';

/** Waits for the rate limit of the server, and says so. Milliseconds. */
export function limitPause({ progress, host }: Pick<Context, 'progress' | 'host'>): (ms: number) => Promise<void> {
  return async (ms) => {
    await progress.show(`waiting ${formatDuration(Math.ceil(ms / 1_000) * 1_000)} for the rate limit`);
    await host.clock.sleep(ms);
  };
}
