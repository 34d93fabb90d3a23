import { usageError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { showInvisible } from '../base/text.ts';
import type { ParsedArgs } from './command.ts';

/**
 * Limits user input for quoting in an error: 60 characters at most; of a URL, which may contain a password, only scheme and host.
 * Invisible characters are shown.
 */
export function shortenInput(word: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)/i.exec(word);
  return url === null ? sanitizeLine(showInvisible(word), 60) : `${sanitizeLine(`${url[1]}${url[2]}`, 60)}…`;
}

/**
 * The value of an option, or undefined if the option is absent. Throws a usage error for an empty value, which results from an
 * unset shell variable.
 */
export function requireValue(args: ParsedArgs, option: string, example: string): string | undefined {
  const text = args.value(option);
  if (text?.trim() === '') throw usageError(`--${option} is empty`, `pass a value, such as \`--${option} ${example}\``);
  return text;
}

interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Parses a whole number; `source` names the option or setting in errors (`--limit`). Throws a usage error for text that is not
 * a whole number and for a number outside the bounds.
 */
export function requireInteger(
  text: string,
  source: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: NumberBounds = {},
): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (value === undefined) {
    throw usageError(
      `${source} is not a whole number: "${shortenInput(text)}"`,
      `pass a whole number, such as \`${source} ${Math.max(min, 1)}\``,
    );
  }
  if (value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    throw usageError(`${source} is out of range: ${value}`, `pass a number ${range}`);
  }
  return value;
}

const unitMilliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration such as `500ms`, `30s`, `5m`, `2h` or `30d`; undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const found = /^(\d{1,9})(ms|[smhd])$/.exec(text);
  return found === null ? undefined : Number(found[1]) * unitMilliseconds[found[2]!]!;
}

/**
 * Parses the duration in `text` to milliseconds; `source` names the option or setting in errors (`--timeout`). Throws a usage
 * error for text that is not a duration, and for a duration below `min` milliseconds.
 */
export function requireDuration(text: string, source: string, min = 0): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    const seconds = parseDuration(`${text}s`);
    const unit = seconds === undefined ? '30s' : seconds < min ? encodeDuration(min) : `${text}s`;
    throw usageError(
      `${source} is not a duration: "${shortenInput(text)}"`,
      `use a form such as ${assignmentExample(source, unit)}`,
      durationSyntax,
    );
  }
  if (ms < min) {
    throw usageError(
      `${source} is too short: "${shortenInput(text)}"`,
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

const durationSyntax = 'a duration is a whole number with a unit: 500ms, 30s, 5m, 2h, 30d';

function assignmentExample(source: string, value: string): string {
  return source.startsWith('--') ? `\`${source} ${value}\`` : `\`${source}=${value}\``;
}

/** The known word of which `word` is probably a misspelling or an abbreviation; undefined if there is none. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(typed, candidate.toLowerCase());
    const longest = Math.max(typed.length, candidate.length);
    // `app` and `api` are two words, `ap` and `pai` are slips.
    const isOtherWord = longest <= 3 && typed.length === candidate.length && !isSwap(typed, candidate.toLowerCase());
    if (distance < bestDistance && distance <= 3 && 3 * distance <= longest && !isOtherWord) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? (typed.length < 2 ? undefined : known.find((candidate) => isAbbreviation(typed, candidate)));
}

/** The whole list with each unknown word replaced; undefined if a word has no near one. */
export function nearestList(
  typed: readonly string[],
  meaning: (word: string) => string | undefined,
): readonly string[] | undefined {
  const meant = typed.map(meaning);
  return meant.every((word) => word !== undefined) ? meant : undefined;
}

/** Finds the known word that `word` probably misspells, with stricter rules than `nearestWord`, for places where any word is valid. */
export function intendedWord(word: string, known: readonly string[]): string | undefined {
  if (!/^[a-z]{2,}$/i.test(word)) return undefined;
  const typed = word.toLowerCase();
  return known.find((candidate) => {
    const allowed = candidate.length < 6 ? 1 : 2;
    return editDistance(typed, candidate) <= allowed || isAbbreviation(typed, candidate);
  });
}

/**
 * Finds the known word that `word` is or misspells, for words whose meaning is far from where they were typed: a short word of
 * another program, such as `top`, is not taken for `stop`.
 */
export function similarWord(word: string, known: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  return known.find((candidate) => {
    const allowed = candidate.length < 5 ? 0 : candidate.length < 7 ? 1 : 2;
    return editDistance(typed, candidate) <= allowed;
  });
}

/** Whether the word begins the candidate, or has its first letter and at least half of its letters in their order. */
function isAbbreviation(typed: string, candidate: string): boolean {
  if (candidate.startsWith(typed)) return true;
  if (typed[0] !== candidate[0] || 2 * typed.length < candidate.length) return false;
  let at = 0;
  for (const letter of candidate) if (letter === typed[at]) at += 1;
  return at === typed.length;
}

function isSwap(one: string, other: string): boolean {
  return [...one].sort().join('') === [...other].sort().join('');
}

/** Number of insertions, deletions, substitutions and swaps of adjacent characters (optimal string alignment distance). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, beforeLast[column - 2]! + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
