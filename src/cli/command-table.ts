import {
  type CommandDescription,
  type CommandGroup,
  type CommandSpec,
  type CommandTree,
  formatSynopsis,
  type LazyCommand,
  type OptionSpec,
  selectVariables,
} from './command.ts';
import { storedCommand } from './stored-help.ts';

/** The global options, which every command accepts. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'profile', valueName: 'NAME', description: 'profile to use', completion: { from: 'profile' } },
  {
    name: 'output',
    short: 'o',
    valueName: 'FORMAT',
    description: 'output format: table, json, ndjson, yaml or csv (default: table)',
    choices: ['table', 'json', 'ndjson', 'yaml', 'csv'],
  },
  {
    name: 'json',
    valueName: 'FIELD,..',
    multiple: 'list',
    description: 'print these fields of the objects as JSON; without a value, list the fields',
    completion: 'field',
  },
  {
    name: 'format',
    valueName: 'COL,COL',
    multiple: 'list',
    description: 'columns to print, in this order',
    completion: 'column',
  },
  { name: 'no-header', description: 'omit the header line' },
  { name: 'query', valueName: 'JMESPATH', description: 'JMESPath expression that filters or reshapes the data' },
  { name: 'auth-url', valueName: 'URL', description: 'origin of the authorization server' },
  { name: 'base-url', valueName: 'URL', description: 'origin of the resource API' },
  { name: 'no-input', description: 'never prompt; a missing value is an error' },
  { name: 'yes', short: 'y', description: 'answer yes to every confirmation' },
  { name: 'quiet', short: 'q', description: 'print no progress and no notices' },
  { name: 'trace', description: 'print each HTTP request on stderr, with secrets removed' },
  { name: 'timeout', valueName: 'DURATION', description: 'time limit of one HTTP request: 90s, 5m, 2h (default: 30s)' },
  { name: 'no-color', description: 'print without colour' },
  { name: 'no-pager', description: 'never show long output in a pager' },
];

/** The help options, which every group and command accepts and the parser processes itself. */
export const helpOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', description: 'print help' },
  { name: 'version', short: 'V', description: 'print the version' },
];

export interface CommandTable {
  readonly globalOptions: readonly OptionSpec[];
  /** Describes the program itself first, and each group before its commands. */
  readonly commands: readonly CommandDescription[];
}

/** Describes one node of the command tree; loads only the file of that command, and only if the build stored no description. */
export async function describeCommand<C>(
  words: readonly string[],
  node: CommandGroup<C> | LazyCommand<C>,
): Promise<CommandDescription> {
  const stored = storedCommand(words.slice(1));
  if (stored !== undefined) return stored;
  const path = words.join(' ');
  const environment = selectVariables(words.slice(1));
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
export async function describeCommands<C>(name: string, root: CommandGroup<C>): Promise<CommandTable> {
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
