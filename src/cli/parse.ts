import { Command, CommanderError, Option } from 'commander';
import type { Branch, CommandSpec, Leaf, OptionSpec, Tree } from './command.ts';
import {
  argumentFault,
  misplacedOptions,
  missingValue,
  slippedCommand,
  unknownCommand,
  unknownOption,
  valueFault,
} from './complaints.ts';
import { globalOptions, helpOptions } from './globals.ts';
import { slipOf } from './suggest.ts';
import type { Occurrences } from './words.ts';

/** What the words ask for. */
export type Typed<C> = HelpAsked<C> | Run<C> | { readonly kind: 'version' };

export interface HelpAsked<C> {
  readonly kind: 'help';
  /** The program's name and the commands below it. */
  readonly path: readonly string[];
  readonly node: Branch<C> | Leaf<C>;
}

export interface Run<C> {
  readonly kind: 'run';
  readonly path: readonly string[];
  readonly spec: CommandSpec<C>;
  readonly args: readonly string[];
  readonly given: Occurrences;
}

/**
 * Reads the words with commander, which meets the tree one level at a time: a command is equipped when the words reach it,
 * so that only the file of the command typed is loaded. Wrong words are a CliError `usage`.
 */
export async function parse<C>(name: string, root: Branch<C>, argv: readonly string[]): Promise<Typed<C>> {
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  const reading: Reading<C> = {
    argv,
    helpAsked: options.includes('--help') || options.includes('-h'),
    given: new Map(),
    outcome: { kind: 'help', path: [name], node: root },
  };
  const command = quiet(new Command(name));
  equipBranch(command, root, [name], reading);
  try {
    await command.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Commander leaves a branch without a subcommand by an exception; so do we where the outcome is known early.
    if (!(error instanceof CommanderError)) throw error;
  }
  return reading.outcome;
}

interface Reading<C> {
  readonly argv: readonly string[];
  /** What else is wrong with the words does not matter then, but for the command they name. */
  readonly helpAsked: boolean;
  readonly given: Map<string, string[]>;
  /** The help of the command reached so far, until something better is known. */
  outcome: Typed<C>;
}

interface Fallen<C> {
  readonly branch: Branch<C>;
  readonly path: readonly string[];
}

function equipBranch<C>(command: Command, branch: Branch<C>, path: readonly string[], reading: Reading<C>): void {
  const names = Object.keys(branch.children);
  // What a branch does not know belongs to the command below it, when there is one.
  const passesOn = (operands: readonly string[]) => operands.length > 0 || branch.fallback !== undefined;
  command.enablePositionalOptions();
  equipOptions(command, globalOptions, path, reading, passesOn);
  for (const name of names) command.addCommand(quiet(new Command(name)), { isDefault: name === branch.fallback });
  command.on('command:*', (operands: readonly string[]) => {
    reading.outcome = helpOf(operands, { branch, path });
  });
  command.hook('preSubcommand', async (_, child) => {
    const chosen = command.args[0] === child.name();
    const node = branch.children[child.name()];
    if (node === undefined || (reading.helpAsked && !chosen)) throw leave();
    const childPath = [...path, child.name()];
    reading.outcome = { kind: 'help', path: childPath, node };
    if (node.kind === 'branch') equipBranch(child, node, childPath, reading);
    else if (reading.helpAsked) throw leave();
    else equipLeaf(child, await node.load(), childPath, reading, chosen ? undefined : { branch, path });
  });
}

function equipLeaf<C>(
  command: Command,
  spec: CommandSpec<C>,
  path: readonly string[],
  reading: Reading<C>,
  fallenFrom: Fallen<C> | undefined,
): void {
  equipOptions(command, [...globalOptions, ...(spec.options ?? [])], path, reading, () => false);
  // The arguments are judged below, where more is known about what was meant.
  command.allowExcessArguments();
  command.action(() => {
    const args = command.args;
    if (fallenFrom !== undefined && args[0] === 'help') {
      reading.outcome = helpOf(args, fallenFrom);
      return;
    }
    const fault =
      (fallenFrom && fallFault(fallenFrom, spec, args, reading)) ?? argumentFault(path.join(' '), spec, args);
    if (fault !== undefined) throw fault;
    reading.outcome = { kind: 'run', path, spec, args, given: reading.given };
  });
}

function equipOptions<C>(
  command: Command,
  specs: readonly OptionSpec[],
  path: readonly string[],
  reading: Reading<C>,
  passesOn: (operands: readonly string[]) => boolean,
): void {
  for (const spec of [...specs, ...helpOptions]) {
    const flags = `${spec.short === undefined ? '' : `-${spec.short}, `}--${spec.name}`;
    command.addOption(new Option(spec.value === undefined ? flags : `${flags} <${spec.value}>`));
    command.on(`option:${spec.name}`, (value: string | undefined) => record(spec, value, reading));
  }
  const parseOptions = command.parseOptions.bind(command);
  command.parseOptions = (words) => {
    const parsed = orMissingValue(() => parseOptions(words), words, specs);
    const [stray] = parsed.unknown;
    if (stray !== undefined && !passesOn(parsed.operands) && !reading.helpAsked) {
      throw unknownOption(path.join(' '), stray, specs);
    }
    return parsed;
  };
}

function record<C>(spec: OptionSpec, value: string | undefined, reading: Reading<C>): void {
  if (!reading.helpAsked) {
    if (spec.name === 'version') reading.outcome = { kind: 'version' };
    // A help flag that was not seen at once is part of a cluster, as in `-qh`.
    if (helpOptions.includes(spec)) throw leave();
    const fault = value === undefined ? undefined : valueFault(spec, value, reading.argv);
    if (fault !== undefined) throw fault;
  }
  reading.given.set(spec.name, [...(reading.given.get(spec.name) ?? []), value ?? '']);
}

// Commander takes the next word as the value, whatever it is; so what lacks one is the last word.
function orMissingValue<T>(read: () => T, words: readonly string[], specs: readonly OptionSpec[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CommanderError) || error.code !== 'commander.optionMissingArgument') throw error;
    const last = words.at(-1) ?? '';
    const spec = specs.find(
      ({ name, short }) => last === `--${name}` || (!last.startsWith('--') && last.at(-1) === short),
    );
    throw spec === undefined ? error : missingValue(spec);
  }
}

// The words named no subcommand; what stands in its place may still have been meant as one.
function fallFault<C>(from: Fallen<C>, spec: CommandSpec<C>, args: readonly string[], { argv }: Reading<C>) {
  const [word] = args;
  if (word === undefined || argv.includes('--')) return undefined;
  const names = Object.keys(from.branch.children);
  const path = from.path.join(' ');
  if (names.includes(word)) return misplacedOptions(path, word);
  const places = spec.arguments ?? [];
  if (args.length > places.length && places.at(-1)?.variadic !== true)
    return unknownCommand(path, word, from.branch.children, from.branch.elsewhere);
  const meant = slipOf(word, names);
  return meant === undefined ? undefined : slippedCommand(path, word, meant, from.branch.fallback ?? meant);
}

/** `help [COMMAND...]` below a branch; any other words name no command. */
function helpOf<C>([first = '', ...words]: readonly string[], { branch, path }: Fallen<C>): HelpAsked<C> {
  if (first !== 'help') throw unknownCommand(path.join(' '), first, branch.children, branch.elsewhere);
  let node: Branch<C> | Leaf<C> = branch;
  const reached = [...path];
  for (const word of words) {
    const children: Tree<C> = node.kind === 'branch' ? node.children : {};
    const child: Branch<C> | Leaf<C> | undefined = Object.hasOwn(children, word) ? children[word] : undefined;
    if (child === undefined) throw unknownCommand(reached.join(' '), word, children);
    node = child;
    reached.push(word);
  }
  return { kind: 'help', path: reached, node };
}

// Commander's own words and its exit stay unused: it judges, and the complaints are ours.
function quiet(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ writeOut() {}, writeErr() {}, outputError() {} })
    .helpOption(false)
    .helpCommand(false);
}

function leave(): CommanderError {
  return new CommanderError(0, 'commander.help', 'the outcome is known');
}
