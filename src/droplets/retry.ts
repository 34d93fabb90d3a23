import { CliError } from '../base/errors.ts';
import { countOf, formatDuration } from '../base/text.ts';
import type { CommandIo } from '../cli/command-io.ts';
import type { HostSystem } from '../platform/host.ts';
import type { BatchState } from './state.ts';
import { timeLimits } from './times.ts';

/** The tries of one command with `--retry-for`: each waits longer than the one before, and no wait exceeds the limit. */
export interface Retry {
  /** Whether time is left for another try. */
  readonly isOpen: () => boolean;
  /** Prints why there is another try, and waits for it. Rejects when the signal is aborted. */
  pause(reason: string, output: Pick<CommandIo['output'], 'note'>, signal: AbortSignal): Promise<void>;
}

/** @param limit milliseconds from now */
export function createRetry({ clock, env }: Pick<HostSystem, 'clock' | 'env'>, limit: number): Retry {
  const { retryPause, maxRetryPause } = timeLimits(env);
  const end = clock.now() + limit;
  let next = retryPause;
  return {
    isOpen: () => clock.now() < end,
    async pause(reason, output, signal) {
      const left = Math.max(0, end - clock.now());
      const ms = Math.min(next, left);
      next = Math.min(2 * next, maxRetryPause);
      await output.note(`Next try in ${formatDuration(ms)}: ${reason} (${formatDuration(left)} of --retry-for left).`);
      await clock.sleep(ms, signal);
    },
  };
}

/** Repeats a step before the first request for droplets, such as reading the account. */
export async function repeatStep<T>(
  retry: Retry,
  output: Pick<CommandIo['output'], 'note'>,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (signal.aborted || !isTransient(error) || !retry.isOpen()) throw error;
      await retry.pause(error.message, output, signal);
    }
  }
}

/**
 * Why another try may create or find droplets that this one has not; undefined when it cannot: then every droplet exists, or the
 * server refused it, or a person has to act. @param stopped the error that stopped this try
 */
export function reasonToRetry(state: BatchState, stopped: CliError | undefined): string | undefined {
  if (stopped !== undefined) return isTransient(stopped) ? stopped.message : undefined;
  const names = state.uncertainGroups().flatMap((group) => (group.isFinal ? [] : group.names));
  return names.length === 0 ? undefined : `the result of ${countOf(names.length, 'name')} is unknown`;
}

/** Whether another try may change the row of a name. @param refused names that the server refused in this run */
export function isOpenRow(state: BatchState, refused: ReadonlySet<string>, name: string): boolean {
  const row = state.rowAt(state.positionOf(name));
  if (row.status === 'unknown')
    return state.uncertainGroups().some((group) => !group.isFinal && group.names.includes(name));
  return row.status === 'failed' && row.id === undefined && !refused.has(name);
}

/** Failures of the network, the server and its rate limit; no refusal, and nothing that a person has to correct. */
function isTransient(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status, exitCode } = error;
  if (code === 'timeout') return exitCode === 6;
  return transientCodes.includes(code) || (status !== undefined && (status >= 500 || status === 408));
}

const transientCodes: readonly CliError['code'][] = [
  'unreachable',
  'rate_limited',
  'server_error',
  'temporarily_unavailable',
  'incomplete_list',
];
