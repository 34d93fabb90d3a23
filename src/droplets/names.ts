import { type CliError, usageError } from '../base/errors.ts';
import { countOf, quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { readInput, type UserInput } from '../cli/user-file.ts';
import { requireValue } from '../cli/values.ts';

/** Reads the names from the arguments, --names and --names-from together. */
export async function readNames(input: UserInput, args: ParsedArgs): Promise<readonly string[]> {
  const file = requireValue(args, 'names-from', 'names.txt');
  const patterns = [...args.positionals, ...args.values('names'), ...(await readNamesFrom(input, file))];
  return expandNames(patterns, (names) => createCommand(names, args));
}

/**
 * The error for an empty list of names. The error names the source of the list, because in a pipe the program that writes the
 * names may have failed.
 */
export function noNamesError(args: ParsedArgs): CliError {
  const file = args.value('names-from');
  if (file === undefined)
    return usageError('names are missing', `give names, as in ${createCommand(["'web-{01..03}'"], args)}`);
  return usageError(`no names in ${file === '-' ? 'standard input' : file}`, 'write one name per line');
}

/** A complete command with these words, in backquotes: size, image and region as typed. */
function createCommand(words: readonly string[], args: ParsedArgs): string {
  const examples = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: undefined };
  const options = Object.entries(examples).flatMap(([name, example]) => {
    const value = args.value(name) ?? example;
    return value === undefined ? [] : [`--${name} ${quoteShellArg(value)}`];
  });
  return `\`cloudctl droplets create ${[...words, ...options].join(' ')}\``;
}

async function readNamesFrom(input: UserInput, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const content = await readInput(input, file, {
    what: file === '-' ? 'the names on standard input' : `the names in ${file}`,
    readError: (reason) =>
      usageError(`could not read the file of names: ${reason}`, 'give a readable file, as in `--names-from names.txt`'),
  });
  // `expandNames` removes white space around each line, including a carriage return.
  const lines = content.toString('utf8').split('\n');
  // A line break at the end of the file ends the last name and does not begin an empty one.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** The pattern of names that the service accepts for a droplet. */
const namePattern = /^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;
const maxNameLength = 255;
const maxNames = 100_000;
/** The most names that a command in a hint repeats. */
const maxHinted = 20;
const fewerNamesHint = 'split the names into several batches';
const nameHint = `use only letters, digits, "." and "-", with a letter or digit at both ends, and at most ${maxNameLength} characters`;
const patternHint =
  'use patterns such as `{01..25}`, `{1..9..2}`, `{a..e}` and `{a,b}`; a pattern cannot contain another one';

export function isDropletName(name: string): boolean {
  return name.length <= maxNameLength && namePattern.test(name);
}

/**
 * Expands patterns such as `web-{01..25}` and `{a,b}` into names, in the order of the pattern. Throws one usage error that
 * lists every blank, invalid and repeated name. @param commandOf the command with these names, for the hint
 */
export function expandNames(
  patterns: readonly string[],
  commandOf?: (names: readonly string[]) => string,
): readonly string[] {
  const names: string[] = [];
  for (const pattern of patterns) {
    const word = pattern.trim();
    if (word.includes('{')) for (const name of expandBraces(word)) names.push(name);
    else names.push(word);
  }
  if (names.length > maxNames) throw usageError(`too many names: more than ${maxNames}`, fewerNamesHint);
  const invalid = names.filter((name) => !isDropletName(name));
  const seen = new Set<string>();
  const twice = [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))].filter((name) => name !== '');
  if (invalid.length > 0) {
    const listed = formatNames(invalid.map((name) => (name === '' ? '(blank)' : name)));
    throw usageError(
      `${countOf(invalid.length, 'name is', 'names are')} invalid`,
      invalid.some((name) => /[{}]/.test(name)) ? patternHint : nameHint,
      twice.length === 0 ? listed : `${listed}\nrepeated: ${formatNames(twice)}`,
    );
  }
  if (twice.length > 0)
    throw usageError(
      `${countOf(twice.length, 'name is', 'names are')} repeated`,
      commandOf === undefined || seen.size > maxHinted
        ? 'give every name once'
        : `give every name once, as in ${commandOf([...seen])}`,
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
