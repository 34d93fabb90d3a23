import type { ExitCode } from '../base/errors.ts';
import type { EnvironmentVariableSpec } from './environment-variables.ts';

/**
 * One command as its file in src/commands describes it: arguments and options for the parser, texts for help and completion,
 * and the function that runs the command. The name and the summary of a command are in the command tree
 * (src/commands/index.ts). `C` is the context that `run` receives.
 */
export interface CommandSpec<C> {
  /** Paragraphs that `--help` prints below the summary of the command. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly ExampleSpec[];
  /** The columns that completion suggests for `--format`. */
  readonly columns?: readonly { readonly name: string }[];
  /** The members of the JSON objects that the command prints, which `--json` accepts. */
  readonly fields?: readonly string[];
  readonly run: (context: C, args: ParsedArgs) => Promise<ExitCode>;
}

export interface ArgumentSpec {
  /** The name of the argument in capital letters, such as `PROFILE`. */
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Whether the argument accepts all remaining words of the command line. */
  readonly variadic?: boolean;
  /** The only values that the argument accepts, besides those that `isOtherValue` accepts. */
  readonly choices?: readonly string[];
  readonly isOtherValue?: (value: string) => boolean;
  readonly completion?: CompletionSource;
  /** The command that prints the values of the argument, for the error when it is missing. */
  readonly listedBy?: string;
}

export interface OptionSpec {
  /** The name of the option without dashes, such as `no-browser`. */
  readonly name: string;
  readonly short?: string;
  readonly description: string;
  /** The heading under which help lists the option; without it, the option is listed under `Options`. */
  readonly section?: string;
  /** The placeholder of the option's value, in capitals (`--limit N`); absent for a flag. */
  readonly valueName?: string;
  /** `list` accepts `a,b,c` and repeated options; `repeat` accepts only repeated options, where a comma is part of the value. */
  readonly multiple?: 'list' | 'repeat';
  /** The only values that the option accepts. */
  readonly choices?: readonly string[];
  readonly completion?: CompletionSource;
}

/**
 * What completion suggests for a value that is not limited to `choices`. `column` and `field`: the columns and the JSON fields
 * of the command; `from`: names that the program knows, such as those of profiles; `by`: values for the argument before this one.
 */
export type CompletionSource =
  | 'file'
  | 'folder'
  | 'column'
  | 'field'
  | { readonly from: string }
  | { readonly by: Readonly<Record<string, readonly string[]>> }
  | readonly string[];

export interface ExampleSpec {
  readonly text: string;
  readonly command: string;
}

/** The arguments and options of one run, checked against the specification of the command. */
export interface ParsedArgs {
  /** Arguments that are not options, in the order of the command line. */
  readonly positionals: readonly string[];
  /** The last value of an option that may be repeated. */
  value(option: string): string | undefined;
  /** Every value of an option in the order of the command line; lists are split at commas. */
  values(option: string): readonly string[];
  /** Whether the command line contains the option. */
  has(option: string): boolean;
}

export type CommandTree<C> = Readonly<Record<string, CommandGroup<C> | LazyCommand<C>>>;

/** A command whose file is loaded only when the command is typed, so that the program starts fast. */
export interface LazyCommand<C> {
  readonly kind: 'command';
  /** The summary of a command is one line about its object and effect: imperative, lower case, without a full stop. */
  readonly summary: string;
  readonly load: () => Promise<CommandSpec<C>>;
}

export interface CommandGroup<C> {
  readonly kind: 'group';
  readonly summary: string;
  /** Paragraphs that `--help` prints below the summary of the group. */
  readonly description?: string;
  readonly examples?: readonly ExampleSpec[];
  readonly children: CommandTree<C>;
  /** The command of the group that runs when the user types none, as `cloudctl droplets` runs `cloudctl droplets list`. */
  readonly defaultCommand?: string;
  /** Aliases for the commands of the group, such as `ls` for `list`, which help does not show. */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * First words of commands of similar tools that this program does not have, each with the command that replaces it. A word in
   * capitals stands for the next word of the line.
   */
  readonly replacements?: Readonly<Record<string, string>>;
  /**
   * The command of this program for a line of a similar tool that no entry of `replacements` begins; an empty text if there is
   * none, although a command has a similar name.
   */
  readonly translate?: (words: readonly string[]) => string | undefined;
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
  /** The options of the command, without the global options. */
  readonly options: readonly OptionSpec[];
  readonly examples: readonly ExampleSpec[];
  /** The environment variables that this command reads; for the program itself, every environment variable. */
  readonly environment: readonly EnvironmentVariableSpec[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** The columns that completion suggests for `--format`. */
  readonly columns?: readonly string[] | undefined;
  /** The fields that completion suggests for `--json`. */
  readonly fields?: readonly string[] | undefined;
  /** The command of this group that runs when the user types no command after the name of the group. */
  readonly defaultCommand?: string | undefined;
}
