import { usageError } from '../base/errors.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration such as `30s`, `5m`, `2h` or `30d`; undefined when the text is not a duration. */
export function parseDurationToMilliseconds(text: string): number | undefined {
  const found = /^(\d{1,9})([smhd])$/.exec(text);
  return found === null ? undefined : Number(found[1]) * unitMilliseconds[found[2]!]!;
}

/**
 * Parses the duration in `text` to milliseconds; `source` names the option or setting in errors (`--timeout`). Throws a usage
 * error for text that is not a duration, and for a duration below `min` milliseconds.
 */
export function parseDurationToMillisecondsOrThrow(text: string, source: string, min = 0): number {
  const ms = parseDurationToMilliseconds(text);
  if (ms === undefined) {
    const unit = /^\d+$/.test(text) ? `${text}s` : '30s';
    throw usageError(
      `${source} is not a duration: "${shortenInputForError(text)}"`,
      `use a form such as ${assignmentExample(source, unit)}`,
      durationSyntax,
    );
  }
  if (ms < min) {
    throw usageError(
      `${source} is too short: "${shortenInputForError(text)}"`,
      `pass ${encodeDuration(min)} or more, such as ${assignmentExample(source, encodeDuration(min))}`,
    );
  }
  return ms;
}

/**
 * The text that is parsed to these milliseconds, in the largest unit that divides them: 90000 is `90s`, 120000 is `2m`. Rounds
 * up to whole seconds.
 */
export function encodeDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  for (const unit of ['d', 'h', 'm']) {
    const size = unitMilliseconds[unit]! / 1000;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

const durationSyntax = 'a duration is a whole number with a unit: 30s, 5m, 2h, 30d';

function assignmentExample(source: string, value: string): string {
  return source.startsWith('--') ? `\`${source} ${value}\`` : `\`${source}=${value}\``;
}
