import type { ArgumentSpec, CommandGroup, CommandTree, LazyCommand, OptionSpec } from './command.ts';

/** A command with all that is below it, its file read: for completion and documentation. */
export interface CommandDescription {
  /** The word it is called by; of the whole tree, the program's name. */
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  readonly children: readonly CommandDescription[];
  /** The child that runs when none is named. */
  readonly fallback?: string | undefined;
}

/** Reads every command of the tree. */
export function describeProgram<C>(name: string, summary: string, tree: CommandTree<C>): Promise<CommandDescription> {
  return describeNode(name, { kind: 'branch', summary, children: tree });
}

async function describeNode<C>(name: string, node: CommandGroup<C> | LazyCommand<C>): Promise<CommandDescription> {
  if (node.kind === 'leaf') {
    const { arguments: places = [], options = [] } = await node.load();
    return { name, summary: node.summary, arguments: places, options, children: [] };
  }
  const entries = Object.entries(node.children);
  const children = await Promise.all(entries.map(([word, child]) => describeNode(word, child)));
  return { name, summary: node.summary, arguments: [], options: [], children, fallback: node.fallback };
}
