import type { ExitCode } from '../errors.ts';

/**
 * The description of one command: everything help, completion and the parser need, and what it does.
 * `C` is what the command is handed to work with; this room does not know it.
 */
export interface CommandSpec<C> {
  /** One line, lower case, no full stop. */
  readonly summary: string;
  /** Paragraphs for `--help`, below the summary. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly ExampleSpec[];
  readonly run: (context: C, words: ParsedArgs) => Promise<ExitCode>;
}

export interface ArgumentSpec {
  /** In capitals, as contract.md writes it. */
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Takes all the words that are left. */
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  readonly completes?: CompletionSource;
}

export interface OptionSpec {
  /** Without dashes; `no-browser` stays `no-browser`. */
  readonly name: string;
  readonly short?: string;
  readonly description: string;
  /** The placeholder of its value, in capitals; absent for a flag. */
  readonly valueName?: string;
  /** `list`: `a,b,c` or repeated; `repeat`: repeated only, commas belong to the value. */
  readonly multiple?: 'list' | 'repeat';
  readonly choices?: readonly string[];
  readonly completes?: CompletionSource;
}

/** Words are offered, while others are taken as well: what must be one of them has `choices`. */
export type CompletionSource = 'file' | 'folder' | 'profile' | readonly string[];

export interface ExampleSpec {
  readonly text: string;
  readonly command: string;
}

/** The words typed, already split by the parser and checked against the specification's names and choices. */
export interface ParsedArgs {
  readonly positionals: readonly string[];
  /** The last value given. */
  value(option: string): string | undefined;
  /** Every value given, in order; lists split at commas. */
  values(option: string): readonly string[];
  has(option: string): boolean;
}

export type CommandTree<C> = Readonly<Record<string, CommandGroup<C> | LazyCommand<C>>>;

export interface LazyCommand<C> {
  readonly kind: 'leaf';
  readonly summary: string;
  /** The command's file is only read when it is the one that was typed. */
  readonly load: () => Promise<CommandSpec<C>>;
}

export interface CommandGroup<C> {
  readonly kind: 'branch';
  readonly summary: string;
  /** Paragraphs for `--help`, below the summary. */
  readonly description?: string;
  readonly examples?: readonly ExampleSpec[];
  readonly children: CommandTree<C>;
  /** The child that runs when none is named, as in `cloudctl droplets`. */
  readonly fallback?: string;
  /** What other programs have here as a command of its own, and the command that does it in this one. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}
