import type { CliError } from '../base/errors.ts';
import { usageError } from '../base/errors.ts';
import type { ArgumentSpec, CommandGroup, CommandSpec, CommandTree, OptionSpec } from './command.ts';
import { splitCommaSeparatedValues } from './create-parsed-args.ts';
import { nearestWord } from './nearest-word.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';
import { formatSynopsis } from './synopsis.ts';

/** In this file, `path` is the command as typed, such as `cloudctl droplets`. */
export function unknownCommandError<C>(
  path: string,
  words: readonly string[],
  children: CommandTree<C>,
  elsewhere: CommandGroup<C>['replacements'] = {},
): CliError {
  const [word = ''] = words;
  const other = findReplacement(words, elsewhere);
  if (other !== undefined)
    return usageError(`unknown command "${shortenInputForError(word)}" for "${path}"`, `use \`${other}\``);
  // `cloudctl login`, without its group, is recognized as `cloudctl auth login`.
  const below = uniqueSubcommands(children);
  const near = nearestWord(word, Object.keys(children)) ?? nearestWord(word, [...below.keys()]);
  const meant = below.get(word) ?? (near === undefined ? undefined : (below.get(near) ?? near));
  const hint = meant === undefined ? helpHint(path) : `did you mean \`${path} ${meant}\`?`;
  return usageError(`unknown command "${shortenInputForError(word)}" for "${path}"`, hint);
}

/** The command that replaces the first words of a line of a similar tool; the longest entry decides. */
export function findReplacement(
  words: readonly string[],
  replacements: Readonly<Record<string, string>> = {},
): string | undefined {
  const found = words
    .map((_, at) => words.slice(0, at + 1).join(' '))
    .filter((key) => Object.hasOwn(replacements, key));
  return replacements[found.at(-1) ?? ''];
}

/** Maps the name of each subcommand to its path, for names that occur in only one group. */
function uniqueSubcommands<C>(children: CommandTree<C>): ReadonlyMap<string, string> {
  const found = Object.entries(children).flatMap(([group, node]) =>
    node.kind === 'group' ? Object.keys(node.children).map((name) => [name, `${group} ${name}`] as const) : [],
  );
  const isOne = ([name]: readonly [string, string]): boolean => found.filter(([other]) => other === name).length === 1;
  return new Map(found.filter(isOne));
}

/** The error for an argument of the default command that is probably a misspelled subcommand, as in `droplets lst`. */
export function misspelledCommandError(path: string, word: string, meant: string, defaultCommand: string): CliError {
  return usageError(
    `unknown command "${shortenInputForError(word)}" for "${path}"`,
    `did you mean \`${path} ${meant}\`?`,
    `to pass "${shortenInputForError(word)}" as an argument, type \`${path} ${defaultCommand} ${shortenInputForError(word)}\``,
  );
}

/**
 * In `droplets --region nyc3 create` the option selects the default command, so `create` becomes an argument of the default
 * command.
 */
export function misplacedOptionsError(path: string, word: string): CliError {
  return usageError(
    `command "${word}" of "${path}" is after an option`,
    `move the options after the command: \`${path} ${word} …\``,
  );
}

export function unknownOptionError(path: string, word: string, known: readonly OptionSpec[]): CliError {
  const flag = flagOf(word);
  const same = known.find((option) => `--${option.name}` === flag);
  if (same !== undefined) return usageError(`${flag} takes no value`, `type \`${flag}\` without a value`);
  const meant = flag.startsWith('--')
    ? nearestWord(flag.slice(2), [...known.map(({ name }) => name), 'help', 'version'])
    : undefined;
  const hint = meant === undefined ? helpHint(path) : `did you mean \`--${meant}\`?`;
  return usageError(`unknown option ${shortenInputForError(flag)} for "${path}"`, hint);
}

export function missingOptionValueError(option: OptionSpec, next?: string): CliError {
  const reason =
    next === undefined ? 'it is the last argument' : `"${shortenInputForError(flagOf(next))}" is an option`;
  const placeholder = option.valueName ?? 'VALUE';
  const hint =
    next === undefined
      ? `type \`--${option.name} ${placeholder}\``
      : `type \`--${option.name} ${placeholder}\`, or \`--${option.name}=${placeholder}\` if the value begins with a dash`;
  return usageError(`--${option.name} requires a value: ${reason}`, hint);
}

/**
 * The error in the value of an option; undefined if the value is valid. `argv` shows whether the user typed `--names=-o` (a
 * value) or `--names -o` (two options).
 */
export function findOptionValueError(option: OptionSpec, value: string, argv: readonly string[]): CliError | undefined {
  const attached = [`--${option.name}=`, `-${option.short}`].some((flag) => argv.includes(`${flag}${value}`));
  if (!attached && /^-[^\d.]/.test(value)) return missingOptionValueError(option, value);
  const { choices } = option;
  if (choices === undefined) return undefined;
  const wrong = (option.multiple === 'list' ? splitCommaSeparatedValues(value) : [value]).find(
    (one) => !choices.includes(one),
  );
  return wrong === undefined ? undefined : unknownChoiceError(`--${option.name}`, wrong, choices);
}

function unknownChoiceError(subject: string, value: string, choices: readonly string[]): CliError {
  const meant = nearestWord(value, choices);
  const flag = subject.startsWith('-') ? `${subject} ` : '';
  return usageError(
    `unknown value "${shortenInputForError(value)}" for ${subject}`,
    meant === undefined ? `use one of ${choices.join(', ')}` : `did you mean \`${flag}${meant}\`?`,
    meant === undefined ? undefined : `known values: ${choices.join(', ')}`,
  );
}

/** The first error in the arguments of a command; undefined if they are valid. */
export function findPositionalsError(
  path: string,
  spec: Pick<CommandSpec<never>, 'arguments' | 'options' | 'examples'>,
  given: readonly string[],
): CliError | undefined {
  const known: readonly ArgumentSpec[] = spec.arguments ?? [];
  const usageLine = `usage: ${formatSynopsis(path, spec)}`;
  // If an optional argument precedes a required one, as in `api [METHOD] PATH`, a single argument is the required one.
  const missing = known.filter(({ required }) => required === true)[given.length];
  if (missing !== undefined) {
    const example = spec.examples?.[0]?.command;
    const see = example === undefined ? helpHint(path) : `see the example \`${example}\``;
    const hint = missing.listedBy === undefined ? see : `find ${missing.name} with \`${missing.listedBy}\`; ${see}`;
    return usageError(`missing argument ${missing.name} for "${path}"`, hint, usageLine);
  }
  const extra = known.at(-1)?.variadic === true ? undefined : given[known.length];
  if (extra !== undefined)
    return usageError(`unexpected argument "${shortenInputForError(extra)}" for "${path}"`, helpHint(path), usageLine);
  for (const [at, value] of given.entries()) {
    const argument = known[Math.min(at, known.length - 1)];
    if (argument?.choices === undefined || argument.isOtherValue?.(value) === true) continue;
    if (!argument.choices.includes(value)) {
      return unknownChoiceError(argument.name, value, argument.choices);
    }
  }
  return undefined;
}

function helpHint(path: string): string {
  return `see \`${path} --help\``;
}

// Only the first letter of a short option such as `-pSECRET` is quoted: other programs accept passwords this way, and errors
// must not print them.
function flagOf(word: string): string {
  return word.startsWith('--') ? word.split('=', 1).join('') : word.slice(0, 2);
}
