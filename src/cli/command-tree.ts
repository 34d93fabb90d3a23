import type { CommandGroup, CommandSpec, CommandTree, LazyCommand } from './command.ts';

/** A command of the tree; `load` reads its file when the command is typed. */
export function lazyCommand<C>(summary: string, load: () => Promise<CommandSpec<C>>): LazyCommand<C> {
  return { kind: 'command', summary, load };
}

export interface FoundCommand<C> {
  /** The name of the group or command in its group, also when an alias was typed. */
  readonly name: string;
  readonly child: CommandGroup<C> | LazyCommand<C>;
}

/**
 * The group or command that `word` names in a group, by its name or an alias; undefined when it names none, or when `node` is not
 * a group.
 */
export function findCommandByWord<C>(
  node: CommandGroup<C> | LazyCommand<C>,
  word: string,
): FoundCommand<C> | undefined {
  if (node.kind !== 'group') return undefined;
  const aliases: Readonly<Record<string, string>> = node.aliases ?? {};
  const name = (Object.hasOwn(aliases, word) && aliases[word]) || word;
  const child = Object.hasOwn(node.children, name) ? node.children[name] : undefined;
  return child === undefined ? undefined : { name, child };
}

/** A group of commands with its summary; `more` has its default command, aliases and replacements. */
export function commandGroup<C>(
  summary: string,
  children: CommandTree<C>,
  more: Pick<CommandGroup<C>, 'defaultCommand' | 'replacements' | 'translate' | 'aliases'> = {},
): CommandGroup<C> {
  return { kind: 'group', summary, children, ...more };
}
