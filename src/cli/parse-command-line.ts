import { Command, CommanderError, Option } from 'commander';
import type { CommandGroup, CommandSpec, CommandTree, LazyCommand, OptionSpec } from './command.ts';
import { globalOptions, helpOptions } from './global-options.ts';
import type { OptionOccurrences } from './parse-args.ts';
import {
  misplacedOptionsError,
  missingValueError,
  misspelledCommandError,
  optionValueError,
  positionalsError,
  unknownCommandError,
  unknownOptionError,
} from './parse-errors.ts';
import { likelyTypoOf } from './suggest.ts';

/** What the words ask for. */
export type ParsedCommand<C> = HelpRequest<C> | CommandInvocation<C> | { readonly kind: 'version' };

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
 * Reads the words with commander, which meets the tree one level at a time: a command is equipped when the words reach it,
 * so that only the file of the command typed is loaded. Wrong words are a CliError `usage`.
 */
export async function parseCommandLine<C>(
  name: string,
  root: CommandGroup<C>,
  argv: readonly string[],
): Promise<ParsedCommand<C>> {
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  const reading: ParseState<C> = {
    argv,
    isHelpRequested: options.includes('--help') || options.includes('-h'),
    occurrences: new Map(),
    outcome: { kind: 'help', path: [name], node: root },
  };
  const command = silenceCommander(new Command(name));
  configureGroup(command, root, [name], reading);
  try {
    await command.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Commander leaves a branch without a subcommand by an exception; so do we where the outcome is known early.
    if (!(error instanceof CommanderError)) throw error;
  }
  return reading.outcome;
}

interface ParseState<C> {
  readonly argv: readonly string[];
  /** What else is wrong with the words does not matter then, but for the command they name. */
  readonly isHelpRequested: boolean;
  readonly occurrences: Map<string, string[]>;
  /** The help of the command reached so far, until something better is known. */
  outcome: ParsedCommand<C>;
}

interface DefaultedGroup<C> {
  readonly branch: CommandGroup<C>;
  readonly path: readonly string[];
}

function configureGroup<C>(
  command: Command,
  branch: CommandGroup<C>,
  path: readonly string[],
  reading: ParseState<C>,
): void {
  const names = Object.keys(branch.children);
  // What a branch does not know belongs to the command below it, when there is one.
  const passesOn = (operands: readonly string[]) => operands.length > 0 || branch.defaultCommand !== undefined;
  command.enablePositionalOptions();
  configureOptions(command, globalOptions, path, reading, passesOn);
  for (const name of names)
    command.addCommand(silenceCommander(new Command(name)), { isDefault: name === branch.defaultCommand });
  command.on('command:*', (operands: readonly string[]) => {
    reading.outcome = resolveHelp(operands, { branch, path });
  });
  command.hook('preSubcommand', async (_, child) => {
    const chosen = command.args[0] === child.name();
    const node = branch.children[child.name()];
    if (node === undefined || (reading.isHelpRequested && !chosen)) throw stopParsing();
    const childPath = [...path, child.name()];
    reading.outcome = { kind: 'help', path: childPath, node };
    if (node.kind === 'group') configureGroup(child, node, childPath, reading);
    else if (reading.isHelpRequested) throw stopParsing();
    else configureCommand(child, await node.load(), childPath, reading, chosen ? undefined : { branch, path });
  });
}

function configureCommand<C>(
  command: Command,
  spec: CommandSpec<C>,
  path: readonly string[],
  reading: ParseState<C>,
  fallenFrom: DefaultedGroup<C> | undefined,
): void {
  configureOptions(command, [...globalOptions, ...(spec.options ?? [])], path, reading, () => false);
  // The arguments are judged below, where more is known about what was meant.
  command.allowExcessArguments();
  command.action(() => {
    const args = command.args;
    if (fallenFrom !== undefined && args[0] === 'help') {
      reading.outcome = resolveHelp(args, fallenFrom);
      return;
    }
    const fault =
      (fallenFrom && defaultCommandError(fallenFrom, spec, args, reading)) ??
      positionalsError(path.join(' '), spec, args);
    if (fault !== undefined) throw fault;
    reading.outcome = { kind: 'run', path, spec, args, occurrences: reading.occurrences };
  });
}

function configureOptions<C>(
  command: Command,
  specs: readonly OptionSpec[],
  path: readonly string[],
  reading: ParseState<C>,
  passesOn: (operands: readonly string[]) => boolean,
): void {
  for (const spec of [...specs, ...helpOptions]) {
    for (const name of [spec.name, ...(spec.aliases ?? [])]) {
      const flags = `${spec.short === undefined || name !== spec.name ? '' : `-${spec.short}, `}--${name}`;
      command.addOption(new Option(spec.valueName === undefined ? flags : `${flags} <${spec.valueName}>`));
      command.on(`option:${name}`, (value: string | undefined) => recordOption(spec, value, reading));
    }
  }
  const parseOptions = command.parseOptions.bind(command);
  command.parseOptions = (words) => {
    const parsed = withMissingValueError(() => parseOptions(words), words, specs);
    const [stray] = parsed.unknown;
    if (stray !== undefined && !passesOn(parsed.operands) && !reading.isHelpRequested) {
      throw unknownOptionError(path.join(' '), stray, specs);
    }
    return parsed;
  };
}

function recordOption<C>(spec: OptionSpec, value: string | undefined, reading: ParseState<C>): void {
  if (!reading.isHelpRequested) {
    if (spec.name === 'version') reading.outcome = { kind: 'version' };
    // A help flag that was not seen at once is part of a cluster, as in `-qh`.
    if (helpOptions.includes(spec)) throw stopParsing();
    const fault = value === undefined ? undefined : optionValueError(spec, value, reading.argv);
    if (fault !== undefined) throw fault;
  }
  reading.occurrences.set(spec.name, [...(reading.occurrences.get(spec.name) ?? []), value ?? '']);
}

// Commander takes the next word as the value, whatever it is; so what lacks one is the last word.
function withMissingValueError<T>(read: () => T, words: readonly string[], specs: readonly OptionSpec[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CommanderError) || error.code !== 'commander.optionMissingArgument') throw error;
    const last = words.at(-1) ?? '';
    const spec = specs.find(
      ({ name, short, aliases = [] }) =>
        [name, ...aliases].some((known) => last === `--${known}`) || (!last.startsWith('--') && last.at(-1) === short),
    );
    throw spec === undefined ? error : missingValueError(spec);
  }
}

// The words named no subcommand; what stands in its place may still have been meant as one.
function defaultCommandError<C>(
  from: DefaultedGroup<C>,
  spec: CommandSpec<C>,
  args: readonly string[],
  { argv }: ParseState<C>,
) {
  const [word] = args;
  if (word === undefined || argv.includes('--')) return undefined;
  const names = Object.keys(from.branch.children);
  const path = from.path.join(' ');
  if (names.includes(word)) return misplacedOptionsError(path, word);
  const places = spec.arguments ?? [];
  if (args.length > places.length && places.at(-1)?.variadic !== true)
    return unknownCommandError(path, word, from.branch.children, from.branch.replacements);
  const meant = likelyTypoOf(word, names);
  return meant === undefined
    ? undefined
    : misspelledCommandError(path, word, meant, from.branch.defaultCommand ?? meant);
}

/** `help [COMMAND...]` below a branch; any other words name no command. */
function resolveHelp<C>(
  [first = '', ...words]: readonly string[],
  { branch, path }: DefaultedGroup<C>,
): HelpRequest<C> {
  if (first !== 'help') throw unknownCommandError(path.join(' '), first, branch.children, branch.replacements);
  let node: CommandGroup<C> | LazyCommand<C> = branch;
  const reached = [...path];
  for (const word of words) {
    const children: CommandTree<C> = node.kind === 'group' ? node.children : {};
    const child: CommandGroup<C> | LazyCommand<C> | undefined = Object.hasOwn(children, word)
      ? children[word]
      : undefined;
    if (child === undefined) throw unknownCommandError(reached.join(' '), word, children);
    node = child;
    reached.push(word);
  }
  return { kind: 'help', path: reached, node };
}

// Commander's own words and its exit stay unused: it judges, and the complaints are ours.
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
