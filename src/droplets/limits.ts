import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { requireDuration, requireInteger } from '../cli/values.ts';

/** Milliseconds. */
export const defaultMaxWait = 15 * 60_000;

const longestWait = 'Longest wait for the rate limit';

/** Options of commands that send many requests. */
export const limitOptions: readonly OptionSpec[] = limitOptionsOf(longestWait);

/** Those of a creation, which may wait for another run. */
export const creationLimitOptions: readonly OptionSpec[] = limitOptionsOf(
  `${longestWait}, and with --if-exists skip for another run`,
);

function limitOptionsOf(wait: string): readonly OptionSpec[] {
  return [
    { name: 'concurrency', valueName: 'N', description: 'Requests sent at the same time, 1 to 32 (default: 4)' },
    {
      name: 'max-wait',
      valueName: 'DURATION',
      description: `${wait}; a longer one ends the command (default: 15m)`,
    },
  ];
}

export interface Limits {
  readonly concurrency: number;
  /** Milliseconds. */
  readonly maxWait: number;
}

export function readLimits(args: ParsedArgs): Limits {
  return {
    concurrency: requireInteger(args.value('concurrency') ?? '4', '--concurrency', { min: 1, max: 32 }),
    maxWait: requireDuration(args.value('max-wait') ?? '15m', '--max-wait'),
  };
}
