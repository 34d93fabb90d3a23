import { usageError } from '../../errors.ts';
import { indexDropletNamePositions } from '../ledger/name-index.ts';

/** The pattern of names that the service accepts for a droplet. */
const namePattern = /^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;
const maxNameLength = 255;
const maxNames = 1_000_000;
const fewerNamesHint = 'split the names into several batches';
const nameHint = `use only letters, digits, "." and "-", with a letter or digit at both ends, and at most ${maxNameLength} characters`;
const patternHint =
  'use patterns such as `{01..25}`, `{1..9..2}`, `{a..e}` and `{a,b}`; a pattern cannot contain another one';

/**
 * Expands patterns such as `web-{01..25}` and `{a,b}` into names, in the order of the pattern. Throws one usage error that
 * lists every blank, invalid and repeated name.
 */
export function expandDropletNames(patterns: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const pattern of patterns) {
    const word = pattern.trim();
    if (word.includes('{')) for (const name of expandBraces(word)) names.push(name);
    else names.push(word);
  }
  if (names.length > maxNames) throw usageError(`too many names: more than ${maxNames}`, fewerNamesHint);
  const invalid = names.filter((name) => !namePattern.test(name) || name.length > maxNameLength);
  const twice = indexDropletNamePositions(names).repeated.filter((name) => name !== '');
  if (invalid.length > 0) {
    const listed = formatNames(invalid.map((name) => (name === '' ? '(blank)' : name)));
    throw usageError(
      `${formatCount(invalid.length, 'name')} ${invalid.length === 1 ? 'is' : 'are'} invalid`,
      invalid.some((name) => /[{}]/.test(name)) ? patternHint : nameHint,
      twice.length === 0 ? listed : `${listed}\nrepeated: ${formatNames(twice)}`,
    );
  }
  if (twice.length > 0)
    throw usageError(
      `${formatCount(twice.length, 'name')} ${twice.length === 1 ? 'is' : 'are'} repeated`,
      'give every name once',
      formatNames(twice),
    );
  return names;
}

/**
 * Brace expansion of one argument as in bash, leftmost brace first. A brace that is not part of a pattern is not changed, and
 * is then an invalid character of a name.
 */
function expandBraces(pattern: string): readonly string[] {
  const brace = /\{([^{}]*)\}/.exec(pattern);
  const inner = brace?.[1];
  if (brace === null || inner === undefined) return [pattern];
  const parts = expandRange(inner) ?? (inner.includes(',') ? inner.split(',') : undefined);
  if (parts === undefined) return [pattern];
  const before = pattern.slice(0, brace.index);
  const after = pattern.slice(brace.index + brace[0].length);
  const tails = expandBraces(after);
  if (parts.length * tails.length > maxNames) throw usageError(`too many names: more than ${maxNames}`, fewerNamesHint);
  const heads = parts.map((part) => `${before}${part}`);
  return heads.flatMap((head) => tails.map((tail) => `${head}${tail}`));
}

/** Expands a range such as `01..25`, `1..9..2` or `a..e`, ascending or descending; leading zeros set the width. */
function expandRange(inner: string): readonly string[] | undefined {
  const ends = /^(?:(\d{1,9})\.\.(\d{1,9})|([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))(?:\.\.([1-9]\d{0,8}))?$/.exec(inner);
  const [from, to, step = '1'] = ends?.slice(1).filter((one) => one !== undefined) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const areLetters = /\D/.test(from);
  const placeOf = (end: string): number => (areLetters ? (end.codePointAt(0) ?? 0) : Number(end));
  const [start, end] = [placeOf(from), placeOf(to)];
  const length = Math.floor(Math.abs(end - start) / Number(step)) + 1;
  if (length > maxNames) throw usageError(`the range {${inner}} has more than ${maxNames} names`, fewerNamesHint);
  const padded = (from.length > 1 && from.startsWith('0')) || (to.length > 1 && to.startsWith('0'));
  const width = padded ? Math.max(from.length, to.length) : 0;
  const by = start <= end ? Number(step) : -Number(step);
  return Array.from({ length }, (_, at) => {
    const value = start + at * by;
    return areLetters ? String.fromCodePoint(value) : String(value).padStart(width, '0');
  });
}

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => escapeInvisible(name.length > 80 ? `${name.slice(0, 77)}...` : name));
  return names.length > 20 ? `${shown.join(', ')} and ${names.length - 20} more` : shown.join(', ');
}

/** Invisible characters are shown as escape sequences, because the output would remove them. */
function escapeInvisible(name: string): string {
  return name.replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

function formatCount(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}
