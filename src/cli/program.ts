import type { ExitCode } from '../errors.ts';
import type { Environment, Sink } from '../platform/host.ts';
import { wantsColor } from './color.ts';
import type { Branch, ExampleSpec, Tree, Words } from './command.ts';
import { globalOptions } from './globals.ts';
import type { Typed } from './parse.ts';
import { wordsOf } from './words.ts';

export interface Program<C> {
  /** The word the program is called by. */
  readonly name: string;
  readonly version: string;
  /** What the program is for: the first paragraph of its help. */
  readonly summary: string;
  /** The first things to try, for the program's help. */
  readonly examples?: readonly ExampleSpec[];
  readonly tree: Tree<C>;
  /** The words after the program's name. */
  readonly argv: readonly string[];
  readonly stdout: Sink;
  readonly env: Environment;
  /** Called once the words are known to be right. `path` is the command without the program's name: `['droplets', 'list']`. */
  readonly makeContext: (globals: Words, path: readonly string[]) => C | Promise<C>;
}

/** Runs the one command the words name. Wrong words are a CliError `usage`; what the command throws is thrown. */
export async function runProgram<C>(program: Program<C>): Promise<ExitCode> {
  const { name, version, summary, examples = [], tree, argv, stdout, env, makeContext } = program;
  const typed = await read(name, { kind: 'branch', summary, examples, children: tree }, argv);
  switch (typed.kind) {
    case 'version':
      await stdout.write(`${version}\n`);
      return 0;
    case 'help': {
      const { help } = await import('./help.ts');
      const color = wantsColor({ sink: stdout, env, noColor: argv.includes('--no-color') });
      await stdout.write(await help(typed, { columns: stdout.columns, color }));
      return 0;
    }
    case 'run': {
      const globals = wordsOf([], globalOptions, typed.given);
      const words = wordsOf(typed.args, typed.spec.options ?? [], typed.given);
      return typed.spec.run(await makeContext(globals, typed.path.slice(1)), words);
    }
    default:
      return typed satisfies never;
  }
}

// The first thing a newcomer types is answered without the parser, which takes a quarter of the whole start to load.
async function read<C>(name: string, root: Branch<C>, argv: readonly string[]): Promise<Typed<C>> {
  const [only = '--help', more] = argv;
  if (more === undefined && ['--help', '-h', 'help'].includes(only)) return { kind: 'help', path: [name], node: root };
  const { parse } = await import('./parse.ts');
  return parse(name, root, argv);
}
