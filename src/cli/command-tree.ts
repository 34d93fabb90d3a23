import type { CommandGroup, CommandSpec, CommandTree, LazyCommand } from './command.ts';

/** A command of the tree; `load` reads its file when the command is typed. */
export function lazyCommand<C>(summary: string, load: () => Promise<CommandSpec<C>>): LazyCommand<C> {
  return { kind: 'command', summary, load };
}

/** A group of commands with its summary; `more` has its default command, aliases and replacements. */
export function commandGroup<C>(
  summary: string,
  children: CommandTree<C>,
  more: Pick<CommandGroup<C>, 'defaultCommand' | 'replacements' | 'aliases'> = {},
): CommandGroup<C> {
  return { kind: 'group', summary, children, ...more };
}
