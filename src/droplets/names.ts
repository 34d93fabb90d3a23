import { type CliError, usageError } from '../base/errors.ts';
import { countOf, quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { readInput, type UserInput } from '../cli/user-file.ts';
import { requireValue } from '../cli/values.ts';

/** Reads the names from the arguments, --names and --names-from together. */
export async function readNames(input: UserInput, args: ParsedArgs): Promise<readonly string[]> {
  const file = requireValue(args, 'names-from', 'names.txt');
  const typed = [...args.positionals, ...args.values('names')];
  const lines = await readNamesFrom(input, file);
  return expandNames([...typed, ...lines], file === undefined ? undefined : { file, from: typed.length });
}

/**
 * The error for an empty list of names. The error names the source of the list, because in a pipe the program that writes the
 * names may have failed. Its hint is not a whole command: a pasted one would create droplets without the other typed options.
 */
export function noNamesError(args: ParsedArgs): CliError {
  const file = args.value('names-from');
  if (file === undefined)
    return usageError(
      'names are missing',
      "add names to the command, such as `'web-{01..03}'`, or `--names-from FILE`",
    );
  return usageError(`no names in ${file === '-' ? 'standard input' : file}`, 'write one name per line');
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
const fewerNamesHint = 'split the names into several batches';
const nameHint = `use only letters, digits, "." and "-", with a letter or digit at both ends, and at most ${maxNameLength} characters`;
const patternHint =
  'use patterns such as `{01..25}`, `{1..9..2}`, `{a..e}` and `{a,b}`; a pattern cannot contain another one';

export function isDropletName(name: string): boolean {
  return name.length <= maxNameLength && namePattern.test(name);
}

/** The file whose lines are the patterns from an index on. */
interface NamesFile {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly from: number;
}

/**
 * Expands patterns such as `web-{01..25}` and `{a,b}` into names, in the order of the pattern. Throws one usage error that
 * lists every blank, invalid and repeated name.
 */
export function expandNames(patterns: readonly string[], source?: NamesFile): readonly string[] {
  const names: string[] = [];
  const invalid: { readonly name: string; readonly line: number | undefined }[] = [];
  for (const [at, pattern] of patterns.entries()) {
    const word = pattern.trim();
    for (const name of word.includes('{') ? expandBraces(word) : [word]) {
      names.push(name);
      if (isDropletName(name)) continue;
      invalid.push({ name, line: source === undefined || at < source.from ? undefined : at - source.from + 1 });
    }
  }
  if (names.length > maxNames) throw usageError(`too many names: more than ${maxNames}`, fewerNamesHint);
  const seen = new Set<string>();
  const twice = [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))].filter((name) => name !== '');
  if (invalid.length > 0) {
    const listed = formatList(
      invalid.map(
        ({ name, line }) =>
          `${name === '' ? '(blank)' : formatName(name)}${line === undefined ? '' : ` (line ${line})`}`,
      ),
    );
    const hasComment = invalid.some(({ name, line }) => line !== undefined && name.startsWith('#'));
    const hint = invalid.some(({ name }) => /[{}]/.test(name)) ? patternHint : nameHint;
    throw usageError(
      `${countOf(invalid.length, 'name is', 'names are')} invalid`,
      source !== undefined && hasComment ? commentHint(source) : hint,
      twice.length === 0 ? listed : `${listed}\nrepeated: ${formatList(twice.map(formatName))}`,
    );
  }
  if (twice.length > 0)
    throw usageError(
      `${countOf(twice.length, 'name is', 'names are')} repeated`,
      'give every name once',
      formatList(twice.map(formatName)),
    );
  return names;
}

function commentHint({ file }: NamesFile): string {
  const filter = "grep -v '^[[:space:]]*#'";
  return file === '-'
    ? `names cannot have comments: pipe them through \`${filter}\``
    : `names cannot have comments: pipe the output of \`${filter} ${quoteShellArg(file)}\` to \`--names-from -\``;
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

function formatList(texts: readonly string[]): string {
  const shown = texts.slice(0, 20).join(', ');
  return texts.length > 20 ? `${shown} and ${texts.length - 20} more` : shown;
}

function formatName(name: string): string {
  return escapeInvisible(name.length > 80 ? `${name.slice(0, 77)}...` : name);
}

/** Invisible characters are shown as escape sequences, because the output would remove them. */
function escapeInvisible(name: string): string {
  return name.replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
