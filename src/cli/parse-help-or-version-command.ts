import type { CommandGroup, LazyCommand } from './command.ts';
import { type FoundCommand, findCommandByWord } from './command-tree.ts';
import { unknownCommandError } from './parse-errors.ts';
import type { ParsedCommandLine } from './parsed-command-line.ts';
import type { CliRootCommandGroup } from './root-command-group.ts';

export interface CommandGroupWithPath<C> {
  readonly group: CommandGroup<C>;
  readonly path: readonly string[];
}

/**
 * Resolves `help [COMMAND...]` in a group, and `help TOPIC` and `version` in the program. Throws for any other word, which is an
 * unknown command.
 */
export function parseHelpOrVersionCommand<C>(
  [first = '', ...words]: readonly string[],
  { group, path }: CommandGroupWithPath<C>,
  root: CliRootCommandGroup<C>,
): ParsedCommandLine<C> {
  if (group === root && first === 'version' && words.length === 0) return { kind: 'version' };
  const { topics = {} } = root;
  const [name = ''] = words;
  const topic = group === root && words.length === 1 && Object.hasOwn(topics, name) ? topics[name] : undefined;
  if (first === 'help' && topic !== undefined) return { kind: 'topic', topic };
  if (first !== 'help')
    throw unknownCommandError(path.join(' '), [first, ...words], group.children, group.replacements);
  let node: CommandGroup<C> | LazyCommand<C> = group;
  const reached = [...path];
  for (const word of words) {
    const found: FoundCommand<C> | undefined = findCommandByWord(node, word);
    if (found === undefined)
      throw unknownCommandError(reached.join(' '), [word], node.kind === 'group' ? node.children : {});
    node = found.child;
    reached.push(found.name);
  }
  return { kind: 'help', path: reached, node };
}
