import { type CliError, usageError } from '../base/errors.ts';
import {
  type ArgumentSpec,
  type CommandGroup,
  type CommandSpec,
  type CommandTree,
  findReplacement,
  formatSynopsis,
  type OptionSpec,
  splitList,
} from './command.ts';
import { nearestWord, shortenInput, similarWord } from './values.ts';

/**
 * Options of similar tools, each with the options that replace it; of these the first one that the command has is suggested.
 * An environment variable is suggested where there is no option.
 */
const similarOptions: Readonly<Record<string, readonly string[]>> = {
  ...same(['-p', '--context', '--account', '--configuration', '--project'], ['profile']),
  ...same(['--verbose', '--debug', '-d', '--trace-http', '--log-http'], ['trace']),
  ...same(['-t', '--access-token', '--token'], ['with-token', 'CLOUDCTL_ACCESS_TOKEN']),
  ...same(['-c', '--config'], ['CLOUDCTL_CONFIG_DIR']),
  ...same(['--jq', '--filter', '--filters', '--template', '--jsonpath'], ['query']),
  ...same(['-j', '--fields'], ['json']),
  ...same(['--columns', '--cols', '--output-columns'], ['format']),
  ...same(['--output-format', '--out'], ['output']),
  ...same(['-F', '--raw-field', '--form'], ['field']),
  ...same(['--body', '--data-raw', '--json-body'], ['data']),
  ...same(['-f'], ['names-from', 'watch', 'yes']),
  ...same(['--follow'], ['watch']),
  ...same(['--force', '--assume-yes', '--confirm', '--auto-approve'], ['yes']),
  ...same(['-s', '--silent'], ['size', 'quiet']),
  ...same(['--non-interactive', '--no-interactive', '--no-prompt'], ['no-input']),
  ...same(['-L', '-l', '--max-items', '--max-results', '--per-page'], ['limit']),
  ...same(['-w'], ['watch', 'wait']),
  ...same(['-n', '--name'], ['names']),
  ...same(['-r', '--zone', '--location', '--datacenter'], ['region']),
  ...same(['--tags', '--tag-name', '--label', '--labels', '--selector'], ['tag', 'tag-names']),
  ...same(['--type', '--instance-type', '--server-type', '--machine-type', '--plan', '--flavor'], ['size']),
  ...same(['-i', '--image-id'], ['image']),
  ...same(['-k', '--key', '--key-name'], ['ssh-keys']),
  ...same(['-u', '--url', '--api-url', '--endpoint', '--endpoint-url'], ['base-url']),
  ...same(['--color', '--colour', '--no-colour'], ['no-color']),
  ...same(['-?'], ['help']),
};

function same(flags: readonly string[], names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(flags.map((flag) => [flag, names]));
}

/** The hint about the option of a similar tool in a command that has these options. */
function findSimilarOption(path: string, flag: string, names: readonly string[]): string | undefined {
  // After the name of a program `-v` asks for its version, after a command for more output.
  if (flag === '-v') return path.includes(' ') ? 'use `--trace`' : 'use `--version`';
  const similar = Object.hasOwn(similarOptions, flag) ? (similarOptions[flag] ?? []) : [];
  const found = similar.find((name) => names.includes(name));
  if (found !== undefined) return `use \`--${found}\``;
  const variable = similar.find((name) => /^[A-Z]/.test(name));
  return variable === undefined ? undefined : `set the environment variable ${variable}`;
}

/** In this file, `path` is the command as typed, such as `cloudctl droplets`. */
export function unknownCommandError<C>(
  path: string,
  words: readonly string[],
  children: CommandTree<C>,
  elsewhere: CommandGroup<C>['replacements'] = {},
  translate: CommandGroup<C>['translate'] = () => undefined,
): CliError {
  const [word = ''] = words;
  const names = Object.keys(children);
  const other = findReplacement(words, elsewhere) ?? translate(words);
  const meant = other === undefined ? meantCommands(word, names, subcommands(children)) : [];
  const [hint, detail] = other
    ? [`use \`${other}\``]
    : meant.length === 1
      ? [`did you mean \`${path} ${meant[0]}\`?`]
      : [
          helpHint(path),
          meant.length + names.length === 0
            ? undefined
            : `commands: ${(meant.length === 0 ? names : meant).join(', ')}`,
        ];
  return usageError(`unknown command "${shortenInput(word)}" for "${path}"`, hint, detail);
}

/** What a word that is no command of a group probably means: a command of the group, else one of its groups. */
function meantCommands(
  word: string,
  names: readonly string[],
  below: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  // `cloudctl login`, without its group, is recognized as `cloudctl auth login`.
  // Heroku and others write `auth:login`.
  const path = word.toLowerCase().replace(':', ' ');
  const exact = below.get(path) ?? [...below.values()].flat().filter((one) => one === path);
  if (exact.length > 0) return exact;
  const sibling = nearestWord(word, names);
  if (sibling !== undefined) return [sibling];
  const only = [...below].flatMap(([name, paths]) => (paths.length === 1 ? [name] : []));
  return below.get(similarWord(word, only) ?? '') ?? [];
}

/** Maps the name of each subcommand to its paths. */
function subcommands<C>(children: CommandTree<C>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [group, node] of Object.entries(children)) {
    if (node.kind !== 'group') continue;
    for (const name of Object.keys(node.children)) found.set(name, [...(found.get(name) ?? []), `${group} ${name}`]);
  }
  return found;
}

/** The error for an argument of the default command that is probably a misspelled subcommand, as in `droplets lst`. */
export function misspelledCommandError(path: string, word: string, meant: string, defaultCommand: string): CliError {
  return usageError(
    `unknown command "${shortenInput(word)}" for "${path}"`,
    `did you mean \`${path} ${meant}\`?`,
    `to pass "${shortenInput(word)}" as an argument, type \`${path} ${defaultCommand} ${shortenInput(word)}\``,
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
  const names = [...known.map(({ name }) => name), 'help', 'version'];
  const meant = flag.startsWith('--') ? nearestWord(flag.slice(2), names) : undefined;
  const hint =
    findSimilarOption(path, flag, names) ?? (meant === undefined ? helpHint(path) : `did you mean \`--${meant}\`?`);
  return usageError(`unknown option ${shortenInput(flag)} for "${path}"`, hint);
}

export function missingValueError(option: OptionSpec, next?: string): CliError {
  const reason = next === undefined ? 'it is the last argument' : `"${shortenInput(flagOf(next))}" is an option`;
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
export function findValueError(option: OptionSpec, value: string, argv: readonly string[]): CliError | undefined {
  const attached = [`--${option.name}=`, `-${option.short}`].some((flag) => argv.includes(`${flag}${value}`));
  if (!attached && /^-[^\d.]/.test(value)) return missingValueError(option, value);
  const { choices } = option;
  if (choices === undefined) return undefined;
  const wrong = (option.multiple === 'list' ? splitList(value) : [value]).find((one) => !choices.includes(one));
  return wrong === undefined ? undefined : unknownChoiceError(`--${option.name}`, wrong, choices);
}

function unknownChoiceError(subject: string, value: string, choices: readonly string[]): CliError {
  const meant = nearestWord(value, choices);
  const flag = subject.startsWith('-') ? `${subject} ` : '';
  return usageError(
    `unknown value "${shortenInput(value)}" for ${subject}`,
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
  if (extra !== undefined) {
    const meant = known.at(-1)?.meantCommand?.(given);
    const hint = meant === undefined ? helpHint(path) : `did you mean \`${meant}\`?`;
    return usageError(`unexpected argument "${shortenInput(extra)}" for "${path}"`, hint, usageLine);
  }
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
