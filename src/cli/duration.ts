import { usageError } from '../errors.ts';
import { printableInput } from './sanitize.ts';

const unitMilliseconds: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `30s`, `5m`, `2h`, `30d`; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const found = /^(\d{1,9})([smhd])$/.exec(text);
  return found === null ? undefined : Number(found[1]) * unitMilliseconds[found[2]!]!;
}

/** The same for the value of `source` (`--timeout`, `CLOUDCTL_TIMEOUT`, …); a usage error otherwise, and for less than `min`. */
export function requireDuration(text: string, source: string, min = 0): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    const unit = /^\d+$/.test(text) ? `${text}s` : '30s';
    throw usageError(
      `${source} is no duration: "${printableInput(text)}"`,
      `write it as in ${assignmentExample(source, unit)}`,
      durationSyntax,
    );
  }
  if (ms < min) {
    throw usageError(
      `${source} is too short: "${printableInput(text)}"`,
      `give it ${formatDuration(min)} at least, as in ${assignmentExample(source, formatDuration(min))}`,
    );
  }
  return ms;
}

/** The shortest of the same notation: 90000 is `90s`, 120000 is `2m`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  for (const unit of ['d', 'h', 'm']) {
    const size = unitMilliseconds[unit]! / 1000;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

const durationSyntax = 'a duration is a whole number and s, m, h or d: 30s, 5m, 2h, 30d';

function assignmentExample(source: string, value: string): string {
  return source.startsWith('--') ? `\`${source} ${value}\`` : `\`${source}=${value}\``;
}
