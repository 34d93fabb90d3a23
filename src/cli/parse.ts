import { Command, CommanderError, Option } from 'commander';
import type { CliError } from '../base/errors.ts';
import {
  type CommandGroup,
  type CommandSpec,
  type FoundCommand,
  findCommand,
  findReplacement,
  type HelpTopic,
  type LazyCommand,
  type OptionOccurrences,
  type OptionSpec,
  type RootGroup,
} from './command.ts';
import { globalOptions, helpOptions } from './command-table.ts';
import {
  findPositionalsError,
  findValueError,
  misplacedOptionsError,
  missingValueError,
  misspelledCommandError,
  unknownCommandError,
  unknownOptionError,
} from './parse-errors.ts';
import { intendedWord } from './values.ts';

/** The result of parsing the command line: help, a command, a topic or the version. */
export type ParsedLine<C> =
  | HelpRequest<C>
  | CommandInvocation<C>
  | { readonly kind: 'topic'; readonly topic: HelpTopic }
  | { readonly kind: 'version' };

export interface HelpRequest<C> {
  readonly kind: 'help';
  /** The program's name and the commands below it. */
  readonly path: readonly string[];
  readonly node: CommandGroup<C> | LazyCommand<C>;
}

export interface CommandInvocation<C> {
  readonly kind: 'run';
  readonly path: readonly string[];
  readonly spec: CommandSpec<C>;
  readonly args: readonly string[];
  readonly occurrences: OptionOccurrences;
}

/**
 * Parses the command line with commander. Groups and commands are configured when the parser reaches them, so that only the
 * file of the typed command is loaded. Throws CliError `usage` for wrong arguments.
 */
export async function parseLine<C>(name: string, root: RootGroup<C>, typed: readonly string[]): Promise<ParsedLine<C>> {
  // Without a value, `--json` lists the fields of the command, which are known when the command is.
  const end = typed.indexOf('--');
  const argv = typed.map((word, at) => {
    const isAlone = word === '--json' && (typed[at + 1] ?? '-').startsWith('-');
    return isAlone && (end === -1 || at < end) ? '--json=' : word;
  });
  const options = end === -1 ? argv : argv.slice(0, end);
  const state: ParseState<C> = {
    root,
    argv,
    isHelpRequested: options.includes('--help') || options.includes('-h'),
    occurrences: new Map(),
    outcome: undefined,
  };
  const help: HelpRequest<C> = { kind: 'help', path: [name], node: root };
  const command = silenceCommander(new Command(name));
  configureGroup(command, root, [name], state);
  try {
    await command.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Commander throws for a group without a subcommand. This parser throws to end the parsing early.
    if (!(error instanceof CommanderError)) throw error;
  }
  const { outcome, occurrences } = state;
  if (outcome !== undefined || state.isHelpRequested || root.overview === undefined) return outcome ?? help;
  return { kind: 'run', path: [name], spec: await root.overview.load(), args: [], occurrences };
}

interface ParseState<C> {
  readonly root: RootGroup<C>;
  readonly argv: readonly string[];
  /** Whether help is requested; other errors in the arguments are then ignored, except for an unknown command. */
  isHelpRequested: boolean;
  readonly occurrences: Map<string, string[]>;
  /** The result of parsing; until parsing ends, the help of the last group or command that was reached. */
  outcome: ParsedLine<C> | undefined;
}

function configureGroup<C>(
  command: Command,
  group: CommandGroup<C>,
  path: readonly string[],
  state: ParseState<C>,
): void {
  const names = Object.keys(group.children);
  // An option that the group does not know belongs to the subcommand, if the command line has one.
  const passesOn = (operands: readonly string[]) => operands.length > 0 || group.defaultCommand !== undefined;
  command.enablePositionalOptions();
  configureOptions(command, globalOptions, path, state, passesOn);
  for (const name of names) {
    const aliases = Object.entries(group.aliases ?? {}).flatMap(([alias, meant]) => (meant === name ? [alias] : []));
    const child = silenceCommander(new Command(name)).aliases(aliases);
    command.addCommand(child, { isDefault: name === group.defaultCommand });
  }
  command.on('command:*', (operands: readonly string[]) => {
    state.outcome = parseHelp(operands, { group, path }, state.root);
  });
  command.hook('preSubcommand', async (_, child) => {
    const chosen = [child.name(), ...child.aliases()].includes(command.args[0] ?? '');
    const node = group.children[child.name()];
    if (node === undefined || (state.isHelpRequested && !chosen)) throw stopParsing();
    const childPath = [...path, child.name()];
    state.outcome = { kind: 'help', path: childPath, node };
    if (node.kind === 'group') configureGroup(child, node, childPath, state);
    else if (state.isHelpRequested) throw stopParsing();
    else configureCommand(child, await node.load(), childPath, state, chosen ? undefined : { group, path });
  });
}

function configureCommand<C>(
  command: Command,
  spec: CommandSpec<C>,
  path: readonly string[],
  state: ParseState<C>,
  defaultedFrom: GroupPath<C> | undefined,
): void {
  configureOptions(command, [...globalOptions, ...(spec.options ?? [])], path, state, () => false);
  // Excess arguments are checked in `action`, where a misspelled command can be recognized.
  command.allowExcessArguments();
  command.action(() => {
    const args = command.args;
    if (defaultedFrom !== undefined && args[0] === 'help') {
      state.outcome = parseHelp(args, defaultedFrom, state.root);
      return;
    }
    const fault =
      (defaultedFrom && defaultCommandError(defaultedFrom, spec, args, state)) ??
      findPositionalsError(path.join(' '), spec, args);
    if (fault !== undefined) throw fault;
    state.outcome = { kind: 'run', path, spec, args, occurrences: state.occurrences };
  });
}

function configureOptions<C>(
  command: Command,
  specs: readonly OptionSpec[],
  path: readonly string[],
  state: ParseState<C>,
  passesOn: (operands: readonly string[]) => boolean,
): void {
  for (const spec of [...specs, ...helpOptions]) {
    const flags = `${spec.short === undefined ? '' : `-${spec.short}, `}--${spec.name}`;
    command.addOption(new Option(spec.valueName === undefined ? flags : `${flags} <${spec.valueName}>`));
    command.on(`option:${spec.name}`, (value: string | undefined) => recordOption(spec, value, state));
  }
  const parseOptions = command.parseOptions.bind(command);
  command.parseOptions = (words) => {
    const parsed = withMissingValueError(() => parseOptions(words), words, specs);
    const [stray] = parsed.unknown;
    if (stray !== undefined && !passesOn(parsed.operands) && !state.isHelpRequested) {
      throw unknownOptionError(path.join(' '), stray, specs);
    }
    return parsed;
  };
}

function recordOption<C>(spec: OptionSpec, value: string | undefined, state: ParseState<C>): void {
  if (!state.isHelpRequested) {
    if (spec.name === 'version') state.outcome = { kind: 'version' };
    // The search for `--help` and `-h` before parsing does not find a flag in combined short options such as `-qh`.
    if (helpOptions.includes(spec)) {
      state.isHelpRequested = spec.name === 'help';
      throw stopParsing();
    }
    const fault = value === undefined ? undefined : findValueError(spec, value, state.argv);
    if (fault !== undefined) throw fault;
  }
  state.occurrences.set(spec.name, [...(state.occurrences.get(spec.name) ?? []), value ?? '']);
}

// Commander takes any next word as the value of an option, so an option lacks its value only when it is the last word.
function withMissingValueError<T>(read: () => T, words: readonly string[], specs: readonly OptionSpec[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CommanderError) || error.code !== 'commander.optionMissingArgument') throw error;
    const last = words.at(-1) ?? '';
    const spec = specs.find(
      ({ name, short }) => last === `--${name}` || (!last.startsWith('--') && last.at(-1) === short),
    );
    throw spec === undefined ? error : missingValueError(spec);
  }
}

// The default command runs when the first word is not a known subcommand. That word may be a misspelled subcommand.
function defaultCommandError<C>(
  from: GroupPath<C>,
  spec: CommandSpec<C>,
  args: readonly string[],
  { argv, root }: ParseState<C>,
) {
  const [word] = args;
  if (word === undefined || argv.includes('--')) return undefined;
  const names = Object.keys(from.group.children);
  const path = from.path.join(' ');
  if (names.includes(word)) return misplacedOptionsError(path, word);
  const places = spec.arguments ?? [];
  const isExcess = args.length > places.length && places.at(-1)?.variadic !== true;
  const { children, replacements } = from.group;
  const translate = translationIn(from, root);
  if (isExcess || (findReplacement(args, replacements) ?? translate(args)) !== undefined)
    return unknownCommandError(path, args, children, replacements, translate);
  const meant = intendedWord(word, names);
  return meant === undefined
    ? undefined
    : misspelledCommandError(path, word, meant, from.group.defaultCommand ?? meant);
}

// Commander only parses: error messages and the exit code come from this program.
function silenceCommander(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ writeOut() {}, writeErr() {}, outputError() {} })
    .helpOption(false)
    .helpCommand(false);
}

function stopParsing(): CommanderError {
  return new CommanderError(0, 'commander.help', 'the outcome is known');
}

export interface GroupPath<C> {
  readonly group: CommandGroup<C>;
  readonly path: readonly string[];
}

/**
 * Resolves `help [COMMAND...]` in a group, and `help TOPIC` and `version` in the program. Throws for any other word, which is an
 * unknown command.
 */
export function parseHelp<C>(
  [first = '', ...words]: readonly string[],
  { group, path }: GroupPath<C>,
  root: RootGroup<C>,
): ParsedLine<C> {
  if (group === root && first === 'version' && words.length === 0) return { kind: 'version' };
  const { topics = {} } = root;
  const [name = ''] = words;
  const topic = group === root && words.length === 1 && Object.hasOwn(topics, name) ? topics[name] : undefined;
  if (first === 'help' && topic !== undefined) return { kind: 'topic', topic };
  if (first !== 'help') throw unknownCommand({ group, path }, [first, ...words], root);
  let node: CommandGroup<C> | LazyCommand<C> = group;
  const reached = [...path];
  for (const [at, word] of words.entries()) {
    const found: FoundCommand<C> | undefined = findCommand(node, word);
    if (found === undefined)
      throw node.kind === 'group'
        ? unknownCommand({ group: node, path: reached }, words.slice(at), root)
        : unknownCommandError(reached.join(' '), words.slice(at), {});
    node = found.child;
    reached.push(found.name);
  }
  return { kind: 'help', path: reached, node };
}

function unknownCommand<C>(from: GroupPath<C>, words: readonly string[], root: RootGroup<C>): CliError {
  const { children, replacements } = from.group;
  return unknownCommandError(from.path.join(' '), words, children, replacements, translationIn(from, root));
}

/** Translates words below a group: by the group itself, else by the program, which gets the words of the group too. */
export function translationIn<C>(
  { group, path }: GroupPath<C>,
  root: RootGroup<C>,
): NonNullable<CommandGroup<C>['translate']> {
  return (words) => group.translate?.(words) ?? root.translate?.([...path.slice(1), ...words]);
}
