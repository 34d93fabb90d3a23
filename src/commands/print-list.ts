import type { ApiClient } from '../api/client.ts';
import type { ListOptions } from '../api/list.ts';
import type { DelayFunction } from '../api/rate-limit-wait.ts';
import type { ExitCode } from '../base/errors.ts';
import type { JsonRecord } from '../base/json.ts';
import type { ListView } from '../cli/columns.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { requireWholeNumber } from '../cli/values.ts';
import type { OutputRowPages } from '../cli/write-list.ts';
import type { CommandContext } from '../context.ts';
import { createRateLimitDelayWithProgress } from './rate-limit-pause.ts';
import {
  type CompletionListKey,
  type CompletionNameCollector,
  createCompletionNameCollector,
} from './remember-names.ts';
import { readListWatchInterval, watchResourceList } from './watch-list.ts';

/** The `--limit` option of every command that lists resources. */
export const limitOption: OptionSpec = {
  name: 'limit',
  valueName: 'N',
  description: 'maximum number of rows (default: no limit)',
};

interface PrintResourceListOptions<T> {
  readonly view: ListView<JsonRecord>;
  /** The name of the resource in the plural for the progress line, such as `droplets`. */
  readonly resource: string;
  readonly list: (api: ApiClient, options: ListOptions<T>) => AsyncIterable<readonly T[]>;
  /** The options that filter items; the notice about an empty list names them. */
  readonly filters?: readonly string[];
  /** The list of completion names to which the names of the printed objects are added. */
  readonly remember?: CompletionListKey;
  /** Reads an object again that left the list of `--watch`, so that its last state is shown. */
  readonly reread?: (api: ApiClient, row: JsonRecord) => Promise<JsonRecord | undefined>;
}

/**
 * Prints the objects of the API as their pages arrive, at most `--limit` of them. Invalid option values are refused before any
 * request is sent.
 */
export async function printResourceList<T extends { readonly raw: JsonRecord }>(
  context: CommandContext,
  args: ParsedArgs,
  { view, resource, list, filters = [], reread, remember }: PrintResourceListOptions<T>,
): Promise<ExitCode> {
  const text = args.value('limit');
  const limit = text === undefined ? undefined : requireWholeNumber(text, '--limit', { min: 1 });
  const options: ListOptions<T> = {
    limit,
    onProgress: context.progress.count(resource),
    pause: createRateLimitDelayWithProgress(context),
  };
  context.output.checkColumns(view);
  const interval = reread === undefined ? undefined : readListWatchInterval(context, args);
  if (interval !== undefined) {
    const read = async (api: ApiClient, pause: DelayFunction) => {
      const rows: JsonRecord[] = [];
      for await (const page of list(api, { limit, pause })) for (const { raw } of page) rows.push(raw);
      return rows;
    };
    /**
     * With `--limit`, an object leaves the list also when a newer object is created, so its disappearance needs no extra
     * read.
     */
    return watchResourceList(context, {
      view,
      resource,
      interval,
      read,
      reread: limit === undefined ? reread : undefined,
    });
  }
  const settings = context.settings();
  const api = await context.api(settings);
  const names = remember === undefined ? undefined : createCompletionNameCollector(context, settings, remember);
  const counted = { pages: 0 };
  await context.output.pages(rowPages(list(api, options), counted, names), view).finally(() => context.progress.stop());
  const isFiltered = args.positionals.length > 0 || filters.some((name) => args.has(name));
  names?.save(limit === undefined && !isFiltered);
  if (counted.pages === 0) await context.output.note(emptyListText(args, resource, filters));
  return 0;
}

async function* rowPages<T extends { readonly raw: JsonRecord }>(
  pages: AsyncIterable<readonly T[]>,
  counted: { pages: number },
  names: CompletionNameCollector | undefined,
): OutputRowPages<JsonRecord> {
  for await (const page of pages) {
    counted.pages += 1;
    const rows = page.map(({ raw }) => raw);
    yield { rows: () => rows };
    if (names?.isOpen() === true) names.add(rows);
  }
}

/** The notice about an empty list: the filters that matched no item. */
function emptyListText(args: ParsedArgs, resource: string, filters: readonly string[]): string {
  const wanted = [
    ...args.positionals.map((word) => `"${word}"`),
    ...filters.flatMap((name) => (args.value(name) === undefined ? [] : [`--${name} ${args.value(name)}`])),
  ];
  return wanted.length === 0 ? `The account has no ${resource}.` : `No ${resource} match ${wanted.join(', ')}.`;
}
