import type { ExitCode } from '../errors.ts';
import type { Environment, Sink } from '../platform/host.ts';
import { isColorEnabled } from './color.ts';
import type { CommandGroup, CommandTree, ExampleSpec, ParsedArgs } from './command.ts';
import { globalOptions } from './global-options.ts';
import { parseArgs } from './parse-args.ts';
import type { ParsedCommand } from './parse-command-line.ts';

export interface Program<C> {
  /** The word the program is called by. */
  readonly name: string;
  readonly version: string;
  /** What the program is for: the first paragraph of its help. */
  readonly summary: string;
  /** The first things to try, for the program's help. */
  readonly examples?: readonly ExampleSpec[];
  readonly tree: CommandTree<C>;
  /** The words after the program's name. */
  readonly argv: readonly string[];
  readonly stdout: Sink;
  readonly env: Environment;
  /** Called once the words are known to be right. `path` is the command without the program's name: `['droplets', 'list']`. */
  readonly makeContext: (globals: ParsedArgs, path: readonly string[]) => C | Promise<C>;
}

/** Runs the one command the words name. Wrong words are a CliError `usage`; what the command throws is thrown. */
export async function runCommandLine<C>(program: Program<C>): Promise<ExitCode> {
  const { name, version, summary, examples = [], tree, argv, stdout, env, makeContext } = program;
  const typed = await readCommandLine(name, { kind: 'branch', summary, examples, children: tree }, argv);
  switch (typed.kind) {
    case 'version':
      await stdout.write(`${version}\n`);
      return 0;
    case 'help': {
      const { renderHelp } = await import('./help.ts');
      const color = isColorEnabled({ sink: stdout, env, noColor: argv.includes('--no-color') });
      await stdout.write(await renderHelp(typed, { columns: stdout.columns, color }));
      return 0;
    }
    case 'run': {
      const globals = parseArgs([], globalOptions, typed.occurrences);
      const words = parseArgs(typed.args, typed.spec.options ?? [], typed.occurrences);
      return typed.spec.run(await makeContext(globals, typed.path.slice(1)), words);
    }
    default:
      return typed satisfies never;
  }
}

// The first thing a newcomer types is answered without the parser, which takes a quarter of the whole start to load.
async function readCommandLine<C>(
  name: string,
  root: CommandGroup<C>,
  argv: readonly string[],
): Promise<ParsedCommand<C>> {
  const [only = '--help', more] = argv;
  if (more === undefined && ['--help', '-h', 'help'].includes(only)) return { kind: 'help', path: [name], node: root };
  const { parseCommandLine } = await import('./parse-command-line.ts');
  return parseCommandLine(name, root, argv);
}
