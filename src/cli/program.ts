import type { ExitCode } from '../errors.ts';
import type { Environment, Sink } from '../platform/host.ts';
import { isColorEnabled } from './color.ts';
import type { CommandGroup, CommandTree, ExampleSpec, LazyCommand, ParsedArgs } from './command.ts';
import { globalOptions } from './global-options.ts';
import type { HelpTopics } from './help-topic.ts';
import { parseArgs } from './parse-args.ts';
import type { HelpRequest, ParsedCommand } from './parse-command-line.ts';
import { helpWordsOf } from './stored-help.ts';

export interface Program<C> {
  /** The name of the executable. */
  readonly name: string;
  readonly version: string;
  /** The first paragraph of the program's help. */
  readonly summary: string;
  /** Examples for the program's help. */
  readonly examples?: readonly ExampleSpec[];
  readonly tree: CommandTree<C>;
  /** The arguments, without the program's name. */
  readonly argv: readonly string[];
  readonly stdout: Sink;
  readonly env: Environment;
  /** Commands of similar tools, each with the command that replaces it. */
  readonly replacements?: Readonly<Record<string, string>>;
  readonly aliases?: Readonly<Record<string, string>>;
  /** The pages of `help NAME`. */
  readonly topics?: HelpTopics;
  /** The values that completion suggests for a profile's name. */
  readonly profileNames: () => readonly string[];
  /** Called after the arguments were checked. `path` is the command without the program's name: `['droplets', 'list']`. */
  readonly makeContext: (globals: ParsedArgs, path: readonly string[]) => C | Promise<C>;
}

/**
 * Runs the command that the arguments name. Wrong arguments are a CliError `usage`; errors of the command are thrown.
 * Three commands are for programs and absent from help: `__complete -- WORDS…` answers the scripts of `completion`,
 * `__commands` prints the command table as JSON, and `__help` prints what the build stores as help.txt.
 */
export async function runCommandLine<C>(program: Program<C>): Promise<ExitCode> {
  const { name, version, summary, examples = [], tree, topics = {}, argv, stdout, env, makeContext } = program;
  const { replacements = {}, aliases = {} } = program;
  const root: CommandGroup<C> = { kind: 'group', summary, examples, children: tree, replacements, aliases };
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    const lines = await complete(root, argv.slice(argv[1] === '--' ? 2 : 1), program.profileNames, topics);
    await stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  }
  if (argv[0] === '__commands') {
    const { createCommandTable } = await import('./command-table.ts');
    await stdout.write(`${JSON.stringify({ version, ...(await createCommandTable(name, root)) }, null, 2)}\n`);
    return 0;
  }
  if (argv[0] === '__help') {
    const [{ createHelpEntries }, { encodeStoredHelp }] = await Promise.all([
      import('./help-entries.ts'),
      import('./stored-help.ts'),
    ]);
    await stdout.write(encodeStoredHelp(await createHelpEntries(name, root, topics)));
    return 0;
  }
  if (argv.length === 1 && argv[0] === 'version') {
    await stdout.write(`${version}\n`);
    return 0;
  }
  const helpStyle = () => ({
    columns: stdout.columns,
    color: isColorEnabled({ sink: stdout, env, noColor: argv.includes('--no-color') }),
  });
  const topic = argv[0] === 'help' && Object.hasOwn(topics, argv[1] ?? '') ? topics[argv[1] ?? ''] : undefined;
  if (topic !== undefined) {
    const { renderHelpTopic } = await import('./help.ts');
    await stdout.write(await renderHelpTopic(await topic.load(), helpStyle()));
    return 0;
  }
  const typed = await readCommandLine(name, root, argv);
  switch (typed.kind) {
    case 'version':
      await stdout.write(`${version}\n`);
      return 0;
    case 'help': {
      const { renderHelp } = await import('./help.ts');
      await stdout.write(await renderHelp(typed, helpStyle(), topics));
      return 0;
    }
    case 'run': {
      const globals = parseArgs([], globalOptions, typed.occurrences);
      const args = parseArgs(typed.args, typed.spec.options ?? [], typed.occurrences);
      return typed.spec.run(await makeContext(globals, typed.path.slice(1)), args);
    }
    default:
      return typed satisfies never;
  }
}

// A request for help alone is answered without the parser, whose loading takes a quarter of the start-up time.
async function readCommandLine<C>(
  name: string,
  root: CommandGroup<C>,
  argv: readonly string[],
): Promise<ParsedCommand<C>> {
  const words = argv.length === 0 ? [] : helpWordsOf(argv).at(-1);
  const help = words === undefined ? undefined : findHelp(name, root, words);
  if (help !== undefined) return help;
  const { parseCommandLine } = await import('./parse-command-line.ts');
  return parseCommandLine(name, root, argv);
}

/** The group or command with these words; undefined when one of them is neither a command nor an alias. */
function findHelp<C>(name: string, root: CommandGroup<C>, words: readonly string[]): HelpRequest<C> | undefined {
  let node: CommandGroup<C> | LazyCommand<C> = root;
  const path = [name];
  for (const word of words) {
    if (node.kind === 'command') return undefined;
    const { children }: CommandGroup<C> = node;
    const aliases: Readonly<Record<string, string>> = node.aliases ?? {};
    const meant: string = (Object.hasOwn(aliases, word) && aliases[word]) || word;
    const child: CommandGroup<C> | LazyCommand<C> | undefined = Object.hasOwn(children, meant)
      ? children[meant]
      : undefined;
    if (child === undefined) return undefined;
    node = child;
    path.push(meant);
  }
  return { kind: 'help', path, node };
}
