import type { ExitCode } from '../base/errors.ts';
import type { OutputSink, ProcessEnvironment } from '../platform/host.ts';
import { usesColor } from './color.ts';
import {
  type CommandGroup,
  type CommandSpec,
  type CommandTree,
  createArgs,
  type ExampleSpec,
  type FoundCommand,
  findCommand,
  type HelpTopic,
  type HelpTopics,
  type LazyCommand,
  type ParsedArgs,
  type RootGroup,
} from './command.ts';
import { globalOptions } from './command-table.ts';
import type { NameSource } from './complete.ts';
import type { PagerPrinter } from './pager-printer.ts';
import type { HelpRequest, ParsedLine } from './parse.ts';
import { helpWords } from './stored-help.ts';

interface CliProgram<C> {
  /** The name of the program's executable file. */
  readonly name: string;
  readonly version: string;
  /** The first paragraph of the program's help. */
  readonly summary: string;
  /** Examples that the program's help shows. */
  readonly examples?: readonly ExampleSpec[];
  readonly tree: CommandTree<C>;
  /** The command-line arguments without the program's name. */
  readonly argv: readonly string[];
  readonly stdout: OutputSink;
  /** Prints help through a pager if it is longer than the screen. Without this function, help goes to `stdout`. */
  readonly paged?: (noPager: boolean) => PagerPrinter;
  readonly env: ProcessEnvironment;
  /** Commands of similar tools, each with the command of this program that replaces it. */
  readonly replacements?: Readonly<Record<string, string>>;
  readonly translate?: CommandGroup<C>['translate'];
  readonly aliases?: Readonly<Record<string, string>>;
  /** The help topics that `help NAME` prints. */
  readonly topics?: HelpTopics;
  /** The command that runs when the user types only the program name; if undefined, the help is printed instead. */
  readonly overview?: LazyCommand<C>;
  /** The names that completion suggests. */
  readonly namesFrom: NameSource;
  /** Values of `from` (completion sources) whose names are the same in every run; the build stores these names. */
  readonly fixedNames?: readonly string[];
  /**
   * Called after the arguments of the command were checked. `path` is the command without the program's name, such as
   * `['droplets', 'list']`, and `spec` its specification.
   */
  readonly makeContext: (globals: ParsedArgs, path: readonly string[], spec: CommandSpec<C>) => C | Promise<C>;
}

/**
 * Runs the command that the arguments select. Wrong arguments throw a CliError with code `usage`, and errors of the command are
 * thrown unchanged. Three commands are meant for programs and absent from help: `__complete -- WORDS…` prints suggestions for
 * the scripts of `completion`, `__commands` prints the command table as JSON, and `__help` prints the file that the build stores.
 */
export async function runCommandLine<C>(program: CliProgram<C>): Promise<ExitCode> {
  const { name, version, summary, examples = [], tree, topics = {}, argv, stdout, env, makeContext } = program;
  const { replacements = {}, translate, aliases = {}, overview } = program;
  const root: RootGroup<C> = {
    kind: 'group',
    summary,
    examples,
    children: tree,
    replacements,
    aliases,
    topics,
    ...(translate === undefined ? {} : { translate }),
    ...(overview === undefined ? {} : { overview, description: `Without a command: ${overview.summary}.` }),
  };
  if (argv[0] === '__complete') {
    const { completeLine: complete } = await import('./complete.ts');
    const lines = await complete(root, argv.slice(argv[1] === '--' ? 2 : 1), program.namesFrom, topics);
    await stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  }
  if (argv[0] === '__commands') {
    const { describeCommands } = await import('./command-table.ts');
    await stdout.write(`${JSON.stringify({ version, ...(await describeCommands(name, root)) }, null, 2)}\n`);
    return 0;
  }
  if (argv[0] === '__help') {
    const [{ helpFileEntries }, { encodeHelp }] = await Promise.all([import('./help.ts'), import('./stored-help.ts')]);
    const names = await Promise.all(
      (program.fixedNames ?? []).map(async (from) => [from, await program.namesFrom(from, new Map())] as const),
    );
    await stdout.write(encodeHelp(await helpFileEntries(name, root, topics, Object.fromEntries(names))));
    return 0;
  }
  if (argv.length === 1 && argv[0] === 'version') {
    await stdout.write(`${version}\n`);
    return 0;
  }
  const helpStyle = () => ({
    columns: stdout.columns,
    color: usesColor({ sink: stdout, env, noColor: argv.includes('--no-color') }),
  });
  const printHelp = (text: string): Promise<void> => {
    const paged = program.paged?.(argv.includes('--no-pager')) ?? ((print) => print(stdout));
    return paged((sink) => sink.write(text));
  };
  const typed = await readCommandLine(name, root, argv);
  switch (typed.kind) {
    case 'version':
      await stdout.write(`${version}\n`);
      return 0;
    case 'help': {
      const { renderHelp } = await import('./help.ts');
      await printHelp(await renderHelp(typed, helpStyle(), topics));
      return 0;
    }
    case 'topic': {
      const { renderTopic } = await import('./help.ts');
      await printHelp(await renderTopic(await typed.topic.load(), helpStyle()));
      return 0;
    }
    case 'run': {
      const globals = createArgs([], globalOptions, typed.occurrences);
      const args = createArgs(typed.args, typed.spec.options ?? [], typed.occurrences);
      return typed.spec.run(await makeContext(globals, typed.path.slice(1), typed.spec), args);
    }
    default:
      return typed satisfies never;
  }
}

// A request for help alone is answered without the parser, because loading the parser takes a quarter of the start-up time.
async function readCommandLine<C>(name: string, root: RootGroup<C>, argv: readonly string[]): Promise<ParsedLine<C>> {
  const [first, second, more] = argv;
  const topic = first === 'help' && more === undefined ? topicOf(root, second) : undefined;
  if (topic !== undefined) return { kind: 'topic', topic };
  const words = helpWords(argv).at(-1);
  const help = words === undefined ? undefined : findHelp(name, root, words);
  if (help !== undefined) return help;
  const { parseLine } = await import('./parse.ts');
  return parseLine(name, root, argv);
}

function topicOf<C>({ topics = {} }: RootGroup<C>, name: string | undefined): HelpTopic | undefined {
  return name !== undefined && Object.hasOwn(topics, name) ? topics[name] : undefined;
}

/** The group or command with these words; undefined when one of them is neither a command nor an alias. */
function findHelp<C>(name: string, root: RootGroup<C>, words: readonly string[]): HelpRequest<C> | undefined {
  let node: CommandGroup<C> | LazyCommand<C> = root;
  const path = [name];
  for (const word of words) {
    const found: FoundCommand<C> | undefined = findCommand(node, word);
    if (found === undefined) return undefined;
    node = found.child;
    path.push(found.name);
  }
  return { kind: 'help', path, node };
}
