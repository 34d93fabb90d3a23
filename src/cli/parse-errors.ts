import type { CliError } from '../errors.ts';
import { usageError } from '../errors.ts';
import type { ArgumentSpec, CommandGroup, CommandSpec, CommandTree, OptionSpec } from './command.ts';
import { splitList } from './parse-args.ts';
import { printableInput } from './sanitize.ts';
import { nearestWord } from './suggest.ts';
import { formatSynopsis } from './synopsis.ts';

/** Wrong words on the command line, in three parts. `path` is the command as typed: `cloudctl droplets create`. */

export function unknownCommandError<C>(
  path: string,
  word: string,
  children: CommandTree<C>,
  elsewhere: CommandGroup<C>['replacements'] = {},
): CliError {
  const other = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  if (other !== undefined)
    return usageError(`unknown command "${printableInput(word)}" for "${path}"`, `use \`${other}\``);
  // `cloudctl login`: who leaves out the group knows the command well enough.
  const below = uniqueSubcommands(children);
  const near = nearestWord(word, Object.keys(children)) ?? nearestWord(word, [...below.keys()]);
  const meant = below.get(word) ?? (near === undefined ? undefined : (below.get(near) ?? near));
  const hint = meant === undefined ? helpHint(path) : `did you mean \`${path} ${meant}\`?`;
  return usageError(`unknown command "${printableInput(word)}" for "${path}"`, hint);
}

/** Commands of the groups among these by their own names, where only one has that name. */
function uniqueSubcommands<C>(children: CommandTree<C>): ReadonlyMap<string, string> {
  const found = Object.entries(children).flatMap(([group, node]) =>
    node.kind === 'group' ? Object.keys(node.children).map((name) => [name, `${group} ${name}`] as const) : [],
  );
  const isOne = ([name]: readonly [string, string]): boolean => found.filter(([other]) => other === name).length === 1;
  return new Map(found.filter(isOne));
}

/** A word that a branch would hand to its fallback, but which looks like a slip: `droplets lst`. */
export function misspelledCommandError(path: string, word: string, meant: string, fallback: string): CliError {
  return usageError(
    `unknown command "${printableInput(word)}" for "${path}"`,
    `did you mean \`${path} ${meant}\`?`,
    `to take "${printableInput(word)}" as it is, write \`${path} ${fallback} ${printableInput(word)}\``,
  );
}

/** `droplets --region nyc3 create`: the options went to the fallback, and the command after them was taken for its argument. */
export function misplacedOptionsError(path: string, word: string): CliError {
  return usageError(
    `"${word}" after an option is not taken for a command of "${path}"`,
    `put the options after the command: \`${path} ${word} …\``,
  );
}

export function unknownOptionError(path: string, word: string, known: readonly OptionSpec[]): CliError {
  const flag = flagOf(word);
  const same = known.find((option) => `--${option.name}` === flag);
  if (same !== undefined) return usageError(`${flag} takes no value`, `write \`${flag}\` alone`);
  const meant = flag.startsWith('--')
    ? nearestWord(flag.slice(2), [...known.map(({ name }) => name), 'help', 'version'])
    : undefined;
  const hint = meant === undefined ? helpHint(path) : `did you mean \`--${meant}\`?`;
  return usageError(`unknown option ${printableInput(flag)} for "${path}"`, hint);
}

export function missingValueError(option: OptionSpec, next?: string): CliError {
  const reason = next === undefined ? 'nothing follows it' : `"${printableInput(flagOf(next))}" looks like an option`;
  const placeholder = option.valueName ?? 'VALUE';
  const hint =
    next === undefined
      ? `write \`--${option.name} ${placeholder}\``
      : `write \`--${option.name} ${placeholder}\`, or \`--${option.name}=${placeholder}\` if the value begins with a dash`;
  return usageError(`--${option.name} needs a value: ${reason}`, hint);
}

/** What is wrong with the value of an option; undefined when nothing is. `argv` tells `--names=-o` from `--names -o`. */
export function optionValueError(option: OptionSpec, value: string, argv: readonly string[]): CliError | undefined {
  const flags = [option.name, ...(option.aliases ?? [])].map((name) => `--${name}=`);
  const attached = [...flags, `-${option.short}`].some((flag) => argv.includes(`${flag}${value}`));
  if (!attached && /^-[^\d.]/.test(value)) return missingValueError(option, value);
  const { choices } = option;
  if (choices === undefined) return undefined;
  const wrong = (option.multiple === 'list' ? splitList(value) : [value]).find((one) => !choices.includes(one));
  return wrong === undefined ? undefined : unknownChoiceError(`--${option.name}`, wrong, choices);
}

function unknownChoiceError(subject: string, value: string, choices: readonly string[]): CliError {
  const meant = nearestWord(value, choices);
  const said = subject.startsWith('-') ? `${subject} ` : '';
  return usageError(
    `unknown value "${printableInput(value)}" for ${subject}`,
    meant === undefined ? `choose one of ${choices.join(', ')}` : `did you mean \`${said}${meant}\`?`,
    meant === undefined ? undefined : `known values: ${choices.join(', ')}`,
  );
}

/** The first thing wrong with the arguments of a command; undefined when they fit. */
export function positionalsError(
  path: string,
  spec: Pick<CommandSpec<never>, 'arguments' | 'options' | 'examples'>,
  given: readonly string[],
): CliError | undefined {
  const known: readonly ArgumentSpec[] = spec.arguments ?? [];
  const usageLine = `usage: ${formatSynopsis(path, spec)}`;
  const missing = known.find((argument, at) => argument.required === true && given[at] === undefined);
  if (missing !== undefined) {
    const example = spec.examples?.[0]?.command;
    const hint = example === undefined ? helpHint(path) : `write it as in \`${example}\``;
    return usageError(`missing argument ${missing.name} for "${path}"`, hint, usageLine);
  }
  const extra = known.at(-1)?.variadic === true ? undefined : given[known.length];
  if (extra !== undefined)
    return usageError(`unexpected argument "${printableInput(extra)}" for "${path}"`, helpHint(path), usageLine);
  for (const [at, value] of given.entries()) {
    const argument = known[Math.min(at, known.length - 1)];
    if (argument?.choices !== undefined && !argument.choices.includes(value)) {
      return unknownChoiceError(argument.name, value, argument.choices);
    }
  }
  return undefined;
}

function helpHint(path: string): string {
  return `see \`${path} --help\``;
}

// Of a short cluster only the first letter: `-pSECRET` is how other programs take a password.
function flagOf(word: string): string {
  return word.startsWith('--') ? word.split('=', 1).join('') : word.slice(0, 2);
}
