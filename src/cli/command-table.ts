import type {
  ArgumentSpec,
  CommandGroup,
  CommandSpec,
  CommandTree,
  ExampleSpec,
  LazyCommand,
  OptionSpec,
} from './command.ts';
import { environmentVariablesOf, type VariableSpec } from './environment-variables.ts';
import { globalOptions, helpOptions } from './global-options.ts';
import { formatSynopsis } from './synopsis.ts';

/**
 * One row of the command table: plain data from which help, completion and reference pages are made. A row for a group has
 * `commands`; a row for a command has `arguments` and `options`.
 */
export interface CommandDescription {
  /** The words of the command including the program's name, such as `['cloudctl', 'droplets', 'create']`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description?: string | undefined;
  readonly synopsis: string;
  readonly arguments: readonly ArgumentSpec[];
  /** Options of the command, without the global options. */
  readonly options: readonly OptionSpec[];
  readonly examples: readonly ExampleSpec[];
  /** The environment variables that concern this command; for the program itself, all variables. */
  readonly environment: readonly VariableSpec[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** The command of a group that runs when the user types none. */
  readonly defaultCommand?: string | undefined;
}

export interface CommandTable {
  readonly globalOptions: readonly OptionSpec[];
  /** Describes the program itself first, and each group before its commands. */
  readonly commands: readonly CommandDescription[];
}

/** Describes one node of the command tree; loads only the file of that command. */
export async function describeCommand<C>(
  words: readonly string[],
  node: CommandGroup<C> | LazyCommand<C>,
): Promise<CommandDescription> {
  const path = words.join(' ');
  const environment = environmentVariablesOf(words.slice(1));
  if (node.kind === 'command') {
    const { description, arguments: positionals = [], options = [], examples = [] }: CommandSpec<C> = await node.load();
    const synopsis = formatSynopsis(path, { arguments: positionals });
    const { summary } = node;
    return {
      words,
      summary,
      description,
      synopsis,
      arguments: positionals,
      options,
      examples,
      environment,
      commands: [],
    };
  }
  const { summary, description, examples = [], children, defaultCommand } = node;
  return {
    words,
    summary,
    description,
    synopsis: `${path} ${defaultCommand === undefined ? 'COMMAND' : '[COMMAND]'} [OPTIONS]`,
    arguments: [],
    options: [],
    examples,
    environment,
    commands: Object.entries(children).map(([name, child]) => ({ name, summary: child.summary })),
    defaultCommand,
  };
}

/** Describes every command of the tree; loads the file of every command. */
export async function createCommandTable<C>(name: string, root: CommandGroup<C>): Promise<CommandTable> {
  return { globalOptions: [...globalOptions, ...helpOptions], commands: await describeBelow([name], root) };
}

async function describeBelow<C>(
  words: readonly string[],
  node: CommandGroup<C> | LazyCommand<C>,
): Promise<readonly CommandDescription[]> {
  const children: CommandTree<C> = node.kind === 'group' ? node.children : {};
  const below = await Promise.all(
    Object.entries(children).map(([word, child]) => describeBelow([...words, word], child)),
  );
  return [await describeCommand(words, node), ...below.flat()];
}
