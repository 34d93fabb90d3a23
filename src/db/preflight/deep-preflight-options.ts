import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/duration.ts';
import { shortenInputForError } from '../../cli/shorten-input-for-error.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { preflightOptionSpecs, readPreflightOptions } from './option-specs.ts';
import type { DeepReadOptions, PreflightOptions } from './preflight-options.ts';

const deepOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'deep',
    description:
      'Read every row once (PostgreSQL): finds damaged pages, invalid bytes, rows over 1 GB, equal keys under a unique index',
  },
  { name: 'deep-rate', valueName: 'MB', description: 'Limit of --deep in MB per second (default: 50)' },
  { name: 'deep-timeout', valueName: 'DURATION', description: 'Time limit of --deep (default: none)' },
];

/** The options of a preflight that can read rows. */
export const deepPreflightOptionSpecs: readonly OptionSpec[] = [...preflightOptionSpecs, ...deepOptionSpecs];

/**
 * The options of a preflight that can read rows, as typed. Throws a usage error for an invalid option.
 * @param now milliseconds since the epoch
 */
export function readDeepPreflightOptions(
  args: ParsedArgs,
  engine: 'postgresql' | 'redis',
  settings: ResolvedProfileSettings,
  now: number,
): PreflightOptions {
  return { ...readPreflightOptions(args, engine, settings, now), deep: readDeepOptions(args, engine) };
}

function readDeepOptions(args: ParsedArgs, engine: 'postgresql' | 'redis'): DeepReadOptions | undefined {
  const unused = deepOptionSpecs.find(({ name }) => args.has(name) && !args.has('deep'));
  if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --deep`, 'add `--deep`');
  if (!args.has('deep')) return undefined;
  if (engine === 'redis') throw usageError('cannot use --deep with Redis', 'leave out `--deep`');
  const timeout = args.value('deep-timeout');
  return {
    bytesPerSecond: readMegabytes(args.value('deep-rate') ?? '50') * 1024 ** 2,
    timeout: timeout === undefined ? undefined : parseDurationToMillisecondsOrThrow(timeout, '--deep-timeout', 1000),
  };
}

function readMegabytes(text: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw usageError(
    `--deep-rate is not a number of MB per second: "${shortenInputForError(text)}"`,
    'use `--deep-rate 50`',
  );
}
