import type { CliError } from '../errors.ts';
import { usage } from '../errors.ts';
import type { ArgumentSpec, Branch, CommandSpec, OptionSpec, Tree } from './command.ts';
import { shown } from './sanitize.ts';
import { nearest } from './suggest.ts';
import { synopsis } from './synopsis.ts';
import { splitList } from './words.ts';

/** Wrong words on the command line, in three parts. `path` is the command as typed: `cloudctl droplets create`. */

export function unknownCommand<C>(
  path: string,
  word: string,
  children: Tree<C>,
  elsewhere: Branch<C>['elsewhere'] = {},
): CliError {
  const other = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  if (other !== undefined) return usage(`unknown command "${shown(word)}" for "${path}"`, `use \`${other}\``);
  // `cloudctl login`: who leaves out the group knows the command well enough.
  const below = commandsBelow(children);
  const near = nearest(word, Object.keys(children)) ?? nearest(word, [...below.keys()]);
  const meant = below.get(word) ?? (near === undefined ? undefined : (below.get(near) ?? near));
  const hint = meant === undefined ? seeHelp(path) : `did you mean \`${path} ${meant}\`?`;
  return usage(`unknown command "${shown(word)}" for "${path}"`, hint);
}

/** Commands of the groups among these by their own names, where only one has that name. */
function commandsBelow<C>(children: Tree<C>): ReadonlyMap<string, string> {
  const found = Object.entries(children).flatMap(([group, node]) =>
    node.kind === 'branch' ? Object.keys(node.children).map((name) => [name, `${group} ${name}`] as const) : [],
  );
  const isOne = ([name]: readonly [string, string]): boolean => found.filter(([other]) => other === name).length === 1;
  return new Map(found.filter(isOne));
}

/** A word that a branch would hand to its fallback, but which looks like a slip: `droplets lst`. */
export function slippedCommand(path: string, word: string, meant: string, fallback: string): CliError {
  return usage(
    `unknown command "${shown(word)}" for "${path}"`,
    `did you mean \`${path} ${meant}\`?`,
    `to take "${shown(word)}" as it is, write \`${path} ${fallback} ${shown(word)}\``,
  );
}

/** `droplets --region nyc3 create`: the options went to the fallback, and the command after them was taken for its argument. */
export function misplacedOptions(path: string, word: string): CliError {
  return usage(
    `"${word}" after an option is not taken for a command of "${path}"`,
    `put the options after the command: \`${path} ${word} …\``,
  );
}

export function unknownOption(path: string, word: string, known: readonly OptionSpec[]): CliError {
  const flag = flagOf(word);
  const same = known.find((option) => `--${option.name}` === flag);
  if (same !== undefined) return usage(`${flag} takes no value`, `write \`${flag}\` alone`);
  const meant = flag.startsWith('--')
    ? nearest(flag.slice(2), [...known.map(({ name }) => name), 'help', 'version'])
    : undefined;
  const hint = meant === undefined ? seeHelp(path) : `did you mean \`--${meant}\`?`;
  return usage(`unknown option ${shown(flag)} for "${path}"`, hint);
}

export function missingValue(option: OptionSpec, next?: string): CliError {
  const reason = next === undefined ? 'nothing follows it' : `"${shown(flagOf(next))}" looks like an option`;
  const placeholder = option.value ?? 'VALUE';
  const hint =
    next === undefined
      ? `write \`--${option.name} ${placeholder}\``
      : `write \`--${option.name} ${placeholder}\`, or \`--${option.name}=${placeholder}\` if the value begins with a dash`;
  return usage(`--${option.name} needs a value: ${reason}`, hint);
}

/** What is wrong with the value of an option; undefined when nothing is. `argv` tells `--names=-o` from `--names -o`. */
export function valueFault(option: OptionSpec, value: string, argv: readonly string[]): CliError | undefined {
  const attached = argv.includes(`--${option.name}=${value}`) || argv.includes(`-${option.short}${value}`);
  if (!attached && /^-[^\d.]/.test(value)) return missingValue(option, value);
  const { choices } = option;
  if (choices === undefined) return undefined;
  const wrong = (option.many === 'list' ? splitList(value) : [value]).find((one) => !choices.includes(one));
  return wrong === undefined ? undefined : unknownChoice(`--${option.name}`, wrong, choices);
}

function unknownChoice(subject: string, value: string, choices: readonly string[]): CliError {
  const meant = nearest(value, choices);
  const said = subject.startsWith('-') ? `${subject} ` : '';
  return usage(
    `unknown value "${shown(value)}" for ${subject}`,
    meant === undefined ? `choose one of ${choices.join(', ')}` : `did you mean \`${said}${meant}\`?`,
    meant === undefined ? undefined : `known values: ${choices.join(', ')}`,
  );
}

/** The first thing wrong with the arguments of a command; undefined when they fit. */
export function argumentFault(
  path: string,
  spec: Pick<CommandSpec<never>, 'arguments' | 'options' | 'examples'>,
  given: readonly string[],
): CliError | undefined {
  const known: readonly ArgumentSpec[] = spec.arguments ?? [];
  const usageLine = `usage: ${synopsis(path, spec)}`;
  const missing = known.find((argument, at) => argument.required === true && given[at] === undefined);
  if (missing !== undefined) {
    const example = spec.examples?.[0]?.command;
    const hint = example === undefined ? seeHelp(path) : `write it as in \`${example}\``;
    return usage(`missing argument ${missing.name} for "${path}"`, hint, usageLine);
  }
  const extra = known.at(-1)?.variadic === true ? undefined : given[known.length];
  if (extra !== undefined)
    return usage(`unexpected argument "${shown(extra)}" for "${path}"`, seeHelp(path), usageLine);
  for (const [at, value] of given.entries()) {
    const argument = known[Math.min(at, known.length - 1)];
    if (argument?.choices !== undefined && !argument.choices.includes(value)) {
      return unknownChoice(argument.name, value, argument.choices);
    }
  }
  return undefined;
}

function seeHelp(path: string): string {
  return `see \`${path} --help\``;
}

// Of a short cluster only the first letter: `-pSECRET` is how other programs take a password.
function flagOf(word: string): string {
  return word.startsWith('--') ? word.split('=', 1).join('') : word.slice(0, 2);
}
