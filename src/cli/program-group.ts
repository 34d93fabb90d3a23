import type { CommandGroup, LazyCommand } from './command.ts';
import type { HelpTopics } from './help-topic.ts';

/** The program itself: the group above all commands. */
export interface CliProgramGroup<C> extends CommandGroup<C> {
  /** The pages of `help NAME`. */
  readonly topics?: HelpTopics;
  /** Runs when no command is typed; without it the help is printed. */
  readonly overview?: LazyCommand<C>;
}
