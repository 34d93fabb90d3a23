import type { ExitCode } from '../errors.ts';
import type { VariableSpec } from './environment-variables.ts';

/**
 * One command, as its file in src/commands describes it: what the parser checks, what help and completion print, and what
 * the command does. Its words and its summary are in the command tree (src/commands/index.ts).
 * `C` is the context that `run` receives.
 */
export interface CommandSpec<C> {
  /** Paragraphs for `--help`, below the summary. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly ExampleSpec[];
  readonly run: (context: C, args: ParsedArgs) => Promise<ExitCode>;
}

export interface ArgumentSpec {
  /** In capitals: `PROFILE`. */
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Accepts every remaining argument. */
  readonly variadic?: boolean;
  /** The only values that are accepted. */
  readonly choices?: readonly string[];
  readonly completion?: CompletionSource;
}

export interface OptionSpec {
  /** Without dashes: `no-browser`. */
  readonly name: string;
  readonly short?: string;
  /** Former names: still accepted, but absent from help and completion. */
  readonly aliases?: readonly string[];
  readonly description: string;
  /** The placeholder of the option's value, in capitals (`--limit N`); absent for a flag. */
  readonly valueName?: string;
  /** `list`: `a,b,c` or repeated; `repeat`: repeated only, a comma is part of the value. */
  readonly multiple?: 'list' | 'repeat';
  /** The only values that are accepted. */
  readonly choices?: readonly string[];
  readonly completion?: CompletionSource;
}

/** What completion suggests for a value that is not limited to `choices`. */
export type CompletionSource = 'file' | 'folder' | 'profile' | readonly string[];

export interface ExampleSpec {
  readonly text: string;
  readonly command: string;
}

/** The arguments and options of one run, checked against the command's specification. */
export interface ParsedArgs {
  /** Arguments that are not options, in order. */
  readonly positionals: readonly string[];
  /** The last value of an option. */
  value(option: string): string | undefined;
  /** Every value of an option, in order; lists are split at commas. */
  values(option: string): readonly string[];
  /** Whether the option was given. */
  has(option: string): boolean;
}

export type CommandTree<C> = Readonly<Record<string, CommandGroup<C> | LazyCommand<C>>>;

/** A command whose file is read only when the command is typed: start-up stays fast. */
export interface LazyCommand<C> {
  readonly kind: 'command';
  /** The command's object and effect, in one line: imperative, lower case, no full stop. */
  readonly summary: string;
  readonly load: () => Promise<CommandSpec<C>>;
}

export interface CommandGroup<C> {
  readonly kind: 'group';
  readonly summary: string;
  /** Paragraphs for `--help`, below the summary. */
  readonly description?: string;
  readonly examples?: readonly ExampleSpec[];
  readonly children: CommandTree<C>;
  /** The child that runs when none is typed: `cloudctl droplets` is `cloudctl droplets list`. */
  readonly defaultCommand?: string;
  /** Other words for children, each with the child's name: `ls` for `list`. Absent from help. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Commands of similar tools that do not exist here, each with the command that replaces it. */
  readonly replacements?: Readonly<Record<string, string>>;
}

/**
 * One row of the command table: plain data from which help, completion and reference pages are made.
 * A group has `commands`, a command has `arguments` and `options`.
 */
export interface CommandDescription {
  /** The command as typed, with the program's name: `['cloudctl', 'droplets', 'create']`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description?: string | undefined;
  readonly synopsis: string;
  readonly arguments: readonly ArgumentSpec[];
  /** Without the global options. */
  readonly options: readonly OptionSpec[];
  readonly examples: readonly ExampleSpec[];
  /** The variables that concern this command; every variable for the program itself. */
  readonly environment: readonly VariableSpec[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** The command of this group that runs when none is typed. */
  readonly defaultCommand?: string | undefined;
}
