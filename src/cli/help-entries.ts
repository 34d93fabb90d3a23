import type { CommandGroup, LazyCommand } from './command.ts';
import { describeCommand } from './command-table.ts';
import { type HelpRenderOptions, renderHelp, renderHelpTopic } from './help.ts';
import type { HelpTopics } from './help-topic.ts';
import { buildStoredCompletionNamesKey, type CompletableName, type UnencodedStoredHelpEntry } from './stored-help.ts';

/**
 * Creates the entries of help.txt: every help page as rendered without a terminal, every command description, and the
 * completion names that are the same in every run. Loads the file of every command.
 */
export async function createHelpFileEntries<C>(
  name: string,
  root: CommandGroup<C>,
  topics: HelpTopics,
  fixedNames: Readonly<Record<string, readonly CompletableName[]>> = {},
): Promise<readonly UnencodedStoredHelpEntry[]> {
  const style: HelpRenderOptions = { columns: undefined, color: false };
  const below = async (
    words: readonly string[],
    path: readonly string[],
    node: CommandGroup<C> | LazyCommand<C>,
  ): Promise<readonly UnencodedStoredHelpEntry[]> => {
    const page = await renderHelp({ path, node }, style, topics);
    const entry = { words, page, description: await describeCommand(path, node) };
    if (node.kind === 'command') return [entry];
    // The help page of an alias is that of the command or group to which the alias refers.
    const names = [...Object.keys(node.children).map((word) => [word, word]), ...Object.entries(node.aliases ?? {})];
    const entries = names.map(([word = '', meant = '']) => {
      const child = node.children[meant];
      return child === undefined ? [] : below([...words, word], [...path, meant], child);
    });
    return [entry, ...(await Promise.all(entries)).flat()];
  };
  const pages = Object.entries(topics).map(async ([topic, { load }]) => ({
    words: ['help', topic],
    page: await renderHelpTopic(await load(), style),
  }));
  const names = Object.entries(fixedNames).map(([from, list]) => ({
    words: buildStoredCompletionNamesKey(from),
    page: JSON.stringify(list),
  }));
  return [...(await below([], [name], root)), ...(await Promise.all(pages)), ...names];
}
