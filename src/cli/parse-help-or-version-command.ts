import type { CommandGroup, CommandTree, LazyCommand } from './command.ts';
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
  const topic = group === root && words.length === 1 ? ownValue(root.topics ?? {}, words[0] ?? '') : undefined;
  if (first === 'help' && topic !== undefined) return { kind: 'topic', topic };
  if (first !== 'help') throw unknownCommandError(path.join(' '), first, group.children, group.replacements);
  let node: CommandGroup<C> | LazyCommand<C> = group;
  const reached = [...path];
  for (const word of words) {
    const children: CommandTree<C> = node.kind === 'group' ? node.children : {};
    const name: string = (node.kind === 'group' && ownValue(node.aliases ?? {}, word)) || word;
    const child: CommandGroup<C> | LazyCommand<C> | undefined = ownValue(children, name);
    if (child === undefined) throw unknownCommandError(reached.join(' '), word, children);
    node = child;
    reached.push(name);
  }
  return { kind: 'help', path: reached, node };
}

function ownValue<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
