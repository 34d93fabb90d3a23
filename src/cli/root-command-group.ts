import type { CommandGroup, LazyCommand } from './command.ts';
import type { HelpTopics } from './help-topic.ts';

/** The program itself: the group above all commands. */
export interface CliRootCommandGroup<C> extends CommandGroup<C> {
  /** The help topics that `help NAME` prints. */
  readonly topics?: HelpTopics;
  /** The command that runs when the user types only the program name; if undefined, the help is printed instead. */
  readonly overview?: LazyCommand<C>;
}
