import type { CommandDescription, CommandGroup, CommandSpec, CommandTree, LazyCommand, OptionSpec } from './command.ts';
import { selectEnvironmentVariableSpecs } from './environment-variables.ts';
import { globalOptions, helpAndVersionOptions } from './global-options.ts';
import { readStoredCommandDescription } from './stored-help.ts';
import { formatSynopsis } from './synopsis.ts';

export interface CommandDescriptionTable {
  readonly globalOptions: readonly OptionSpec[];
  /** Describes the program itself first, and each group before its commands. */
  readonly commands: readonly CommandDescription[];
}

/** Describes one node of the command tree; loads only the file of that command, and only if the build stored no description. */
export async function describeCommand<C>(
  words: readonly string[],
  node: CommandGroup<C> | LazyCommand<C>,
): Promise<CommandDescription> {
  const stored = readStoredCommandDescription(words.slice(1));
  if (stored !== undefined) return stored;
  const path = words.join(' ');
  const environment = selectEnvironmentVariableSpecs(words.slice(1));
  if (node.kind === 'command') {
    const spec: CommandSpec<C> = await node.load();
    const { description, arguments: positionals = [], options = [], examples = [] } = spec;
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
      columns: spec.columns?.map(({ name }) => name),
      fields: spec.fields,
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
export async function createCommandDescriptionTable<C>(
  name: string,
  root: CommandGroup<C>,
): Promise<CommandDescriptionTable> {
  return { globalOptions: [...globalOptions, ...helpAndVersionOptions], commands: await describeBelow([name], root) };
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
