import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/duration.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';

/** Options that are shared by commands that send many requests. */
export const batchSendOptionSpecs: readonly OptionSpec[] = [
  { name: 'concurrency', valueName: 'N', description: 'Requests sent at the same time, 1 to 32 (default: 4)' },
  {
    name: 'max-wait',
    valueName: 'DURATION',
    description: 'Longest wait for the rate limit of the server; a longer one ends the run (default: 15m)',
  },
];

export interface BatchSendOptions {
  readonly concurrency: number;
  /** Milliseconds. */
  readonly maxWait: number;
}

export function readBatchSendOptions(args: ParsedArgs): BatchSendOptions {
  return {
    concurrency: requireWholeNumber(args.value('concurrency') ?? '4', '--concurrency', { min: 1, max: 32 }),
    maxWait: parseDurationToMillisecondsOrThrow(args.value('max-wait') ?? '15m', '--max-wait'),
  };
}
