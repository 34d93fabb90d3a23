import type { Api } from '../api/client.ts';
import type { ListOptions, PageItems } from '../api/list-pages.ts';
import type { ListView } from '../cli/columns.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { requireWholeNumber } from '../cli/whole-number.ts';
import type { RowPages } from '../cli/write-list.ts';
import type { Context } from '../context.ts';
import type { JsonRecord } from '../json.ts';
import { createRateLimitPause } from './rate-limit-pause.ts';

/** The `--limit` option of every command that lists resources. */
export const limitOption: OptionSpec = {
  name: 'limit',
  valueName: 'N',
  description: 'maximum number of rows (default: no limit)',
};

export interface PrintListOptions<T> {
  readonly view: ListView<JsonRecord>;
  /** The name of the resource in the plural for the progress line, such as `droplets`. */
  readonly resource: string;
  readonly list: (api: Api, options: ListOptions<T>) => AsyncIterable<PageItems<T>>;
  /** The options that filter items; the notice about an empty list names them. */
  readonly filters?: readonly string[];
}

/**
 * Prints the objects of the API as their pages arrive, at most `--limit` of them. Invalid option values are refused before any
 * request is sent.
 */
export async function printList<T extends { readonly raw: JsonRecord }>(
  context: Context,
  args: ParsedArgs,
  { view, resource, list, filters = [] }: PrintListOptions<T>,
): Promise<0> {
  const limit = args.value('limit');
  const options: ListOptions<T> = {
    limit: limit === undefined ? undefined : requireWholeNumber(limit, '--limit', { min: 1 }),
    onProgress: context.progress.count(resource),
    pause: createRateLimitPause(context),
  };
  context.output.checkColumns(view);
  const api = await context.api(context.settings());
  const counted = { pages: 0 };
  await context.output.pages(rowPages(list(api, options), counted), view).finally(() => context.progress.stop());
  if (counted.pages === 0) await context.output.note(emptyListText(args, resource, filters));
  return 0;
}

async function* rowPages<T extends { readonly raw: JsonRecord }>(
  chunks: AsyncIterable<PageItems<T>>,
  counted: { pages: number },
): RowPages<JsonRecord> {
  for await (const { items, lines } of chunks) {
    counted.pages += 1;
    yield { rows: () => items().map(({ raw }) => raw), lines };
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
