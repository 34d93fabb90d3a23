import type { CliError } from '../base/errors.ts';
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
  if (first !== 'help') throw unknownCommand({ group, path }, [first, ...words], root);
  let node: CommandGroup<C> | LazyCommand<C> = group;
  const reached = [...path];
  for (const [at, word] of words.entries()) {
    const found: FoundCommand<C> | undefined = findCommandByWord(node, word);
    if (found === undefined)
      throw node.kind === 'group'
        ? unknownCommand({ group: node, path: reached }, words.slice(at), root)
        : unknownCommandError(reached.join(' '), words.slice(at), {});
    node = found.child;
    reached.push(found.name);
  }
  return { kind: 'help', path: reached, node };
}

function unknownCommand<C>(
  from: CommandGroupWithPath<C>,
  words: readonly string[],
  root: CliRootCommandGroup<C>,
): CliError {
  const { children, replacements } = from.group;
  return unknownCommandError(from.path.join(' '), words, children, replacements, translationIn(from, root));
}

/** Translates words below a group: by the group itself, else by the program, which gets the words of the group too. */
export function translationIn<C>(
  { group, path }: CommandGroupWithPath<C>,
  root: CliRootCommandGroup<C>,
): NonNullable<CommandGroup<C>['translate']> {
  return (words) => group.translate?.(words) ?? root.translate?.([...path.slice(1), ...words]);
}
