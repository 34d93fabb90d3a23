import type { CommandGroup, CommandSpec, LazyCommand } from './command.ts';
import type { OptionOccurrences } from './create-parsed-args.ts';
import type { HelpTopic } from './help-topic.ts';

/** The result of parsing the command line: help, a command, a topic or the version. */
export type ParsedCommandLine<C> =
  | HelpRequest<C>
  | CommandInvocation<C>
  | { readonly kind: 'topic'; readonly topic: HelpTopic }
  | { readonly kind: 'version' };

export interface HelpRequest<C> {
  readonly kind: 'help';
  /** The program's name and the commands below it. */
  readonly path: readonly string[];
  readonly node: CommandGroup<C> | LazyCommand<C>;
}

export interface CommandInvocation<C> {
  readonly kind: 'run';
  readonly path: readonly string[];
  readonly spec: CommandSpec<C>;
  readonly args: readonly string[];
  readonly occurrences: OptionOccurrences;
}
