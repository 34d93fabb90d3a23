import type { ApiClient } from '../api/client.ts';
import type { ListOptions } from '../api/list.ts';
import { type DelayFunction, FailedReads } from '../api/waits.ts';
import { type ExitCode, usageError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import type { JsonRecord } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { ListView } from '../cli/columns.ts';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import { pauseOf } from '../cli/command-io.ts';
import { createScreen } from '../cli/progress.ts';
import { requireDuration, requireInteger } from '../cli/values.ts';
import type { RowPages } from '../cli/write-list.ts';
import { collectNames, type ListKey, type NameCollector } from '../config/name-collector.ts';
import type { CommandContext } from '../context.ts';
import { interruptedError, listenForStop } from '../platform/signals.ts';

/** The `--limit` option of every command that lists resources. */
export const limitOption: OptionSpec = {
  name: 'limit',
  valueName: 'N',
  description: 'maximum number of rows (default: no limit)',
};

interface ListSpec<T> {
  readonly view: ListView<JsonRecord>;
  /** The name of the resource in the plural for the progress line, such as `droplets`. */
  readonly resource: string;
  readonly list: (api: ApiClient, options: ListOptions<T>) => AsyncIterable<readonly T[]>;
  /** The options that filter items; the notice about an empty list names them. */
  readonly filters?: readonly string[];
  /** The list of completion names to which the names of the printed objects are added. */
  readonly remember?: ListKey;
  /** Reads an object again that left the list of `--watch`, so that its last state is shown. */
  readonly reread?: (api: ApiClient, row: JsonRecord) => Promise<JsonRecord | undefined>;
}

/**
 * Prints the objects of the API as their pages arrive, at most `--limit` of them. Invalid option values are refused before any
 * request is sent.
 */
export async function printList<T extends { readonly raw: JsonRecord }>(
  context: CommandContext,
  args: ParsedArgs,
  { view, resource, list, filters = [], reread, remember }: ListSpec<T>,
): Promise<ExitCode> {
  const text = args.value('limit');
  const limit = text === undefined ? undefined : requireInteger(text, '--limit', { min: 1 });
  const options: ListOptions<T> = {
    limit,
    onProgress: context.progress.count(resource),
    pause: pauseOf(context),
  };
  context.output.checkColumns(view);
  const interval = reread === undefined ? undefined : readInterval(context, args);
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
    return watchList(context, {
      view,
      resource,
      interval,
      read,
      reread: limit === undefined ? reread : undefined,
    });
  }
  const settings = context.settings();
  const api = await context.api(settings);
  const names = remember === undefined ? undefined : collectNames(context.host.folders.state, settings, remember);
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
  names: NameCollector | undefined,
): RowPages<JsonRecord> {
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

export const watchOptions: readonly OptionSpec[] = [
  {
    name: 'watch',
    description: 'repeat the list until Ctrl-C: redrawn on a terminal; elsewhere a row follows for each change',
  },
  { name: 'interval', valueName: 'DURATION', description: 'with --watch: time between two reads (default: 5s)' },
];

interface WatchSpec {
  readonly view: ListView<JsonRecord>;
  /** The plural noun for messages, such as `droplets`. */
  readonly resource: string;
  /** Milliseconds between two reads. */
  readonly interval: number;
  /** Reads the whole list; the function calls `pause` to wait for the rate limit. */
  readonly read: (api: ApiClient, pause: DelayFunction) => Promise<readonly JsonRecord[]>;
  /**
   * Reads an object again that left the list, so that its last state is shown. If undefined, the disappearance is not shown.
   */
  readonly reread?: ((api: ApiClient, row: JsonRecord) => Promise<JsonRecord | undefined>) | undefined;
}

/** The interval in milliseconds; undefined without `--watch`. Throws a usage error for options that `--watch` does not go with. */
function readInterval({ globals, output }: CommandContext, args: ParsedArgs): number | undefined {
  const interval = requireDuration(args.value('interval') ?? '5s', '--interval', 1000);
  if (!args.has('watch')) {
    if (args.has('interval')) throw usageError('cannot use --interval without --watch', 'add `--watch`');
    return undefined;
  }
  if (globals.value('query') !== undefined)
    throw usageError('cannot use --query with --watch', 'choose columns with `--format ID,Status`');
  if (output.format === 'json' || output.format === 'yaml')
    throw usageError(`cannot use --watch with ${output.format}, which is one document`, 'use `-o ndjson`');
  return interval;
}

/**
 * Reads the list again and again until a signal. On a terminal the table is redrawn in place. Elsewhere the list is
 * printed once, then each row that is new or has changed, as `kubectl get --watch` does. Ctrl-C ends the watch: the
 * exit code is that of the signal, and no error message is printed.
 */
async function watchList(context: CommandContext, options: WatchSpec): Promise<ExitCode> {
  const { host, output } = context;
  const ended = listenForStop(host.signals, host.stdout);
  try {
    const lists = readRepeatedly(context, options, ended.signal);
    if (output.format !== 'table') await output.pages(changedPages(lists), options.view);
    else await (host.stdout.isTTY ? drawLists : printChanges)(context, options, lists);
  } finally {
    ended.stopListening();
  }
  const heard = ended.heard();
  return heard === undefined ? 0 : interruptedError(heard).exitCode;
}

interface ReadList {
  readonly rows: readonly JsonRecord[];
  /** Rows that are new or have changed since the last read, and rows that left the list, in their last state. */
  readonly changed: readonly JsonRecord[];
  /** Why the list could not be read again; `rows` then contains the rows of the last successful read. */
  readonly problem?: string;
}

/**
 * Yields one value for each read, until the signal is aborted. Throws if the first read fails, or if several
 * consecutive reads fail.
 */
async function* readRepeatedly(
  context: CommandContext,
  { read, reread, interval }: WatchSpec,
  signal: AbortSignal,
): AsyncGenerator<ReadList> {
  const { clock } = context.host;
  const api = abortableApi(await context.api(context.settings()), signal);
  const pause = pauseOf(context, signal);
  const failed = new FailedReads();
  let known: ReadonlyMap<string, JsonRecord> = new Map();
  while (!signal.aborted) {
    try {
      const rows = await read(api, pause);
      const present = new Map(rows.map((row) => [String(row.id), row]));
      const changed = rows.filter((row) => !isSame(known.get(String(row.id)), row));
      for (const [id, row] of known) {
        const gone = present.has(id) || reread === undefined ? undefined : await reread(api, row);
        if (gone !== undefined) changed.push(gone);
      }
      known = present;
      failed.succeed();
      await context.progress.stop();
      yield { rows, changed };
    } catch (error) {
      if (signal.aborted) return;
      yield { rows: [...known.values()], changed: [], problem: failed.add(error).message };
    }
    // The wait rejects when the signal is aborted; the loop then ends.
    await clock.sleep(interval, signal).catch(() => undefined);
  }
}

function isSame(before: JsonRecord | undefined, now: JsonRecord): boolean {
  return before !== undefined && stringifyExact(before) === stringifyExact(now);
}

/** Returns an API client whose requests the signal aborts. */
function abortableApi(api: ApiClient, signal: AbortSignal): ApiClient {
  return {
    baseOrigin: api.baseOrigin,
    request: (request) => api.request({ ...request, until: signal }),
    success: (request) => api.success({ ...request, until: signal }),
    json: (request) => api.json({ ...request, until: signal }),
  };
}

async function* changedPages(lists: AsyncIterable<ReadList>): RowPages<JsonRecord> {
  for await (const { changed } of lists) if (changed.length > 0) yield { rows: () => changed };
}

/** Prints the table, then one line for each change, with column widths that fit the table and the changes. */
async function printChanges(
  { output }: CommandContext,
  { view }: WatchSpec,
  lists: AsyncIterable<ReadList>,
): Promise<void> {
  let isFirst = true;
  for await (const { rows, changed } of lists) {
    const lines = (await output.tableText([...rows, ...changed], view)).split('\n').slice(0, -1);
    const fresh = isFirst
      ? lines.slice(0, lines.length - changed.length)
      : changed.length === 0
        ? []
        : lines.slice(-changed.length);
    isFirst = false;
    if (fresh.length > 0) await output.text(fresh.join('\n'));
  }
}

async function drawLists(
  { host, output, progress }: CommandContext,
  { view, resource }: WatchSpec,
  lists: AsyncIterable<ReadList>,
): Promise<void> {
  const { stdout, clock } = host;
  const screen = createScreen(stdout);
  let last: ReadList | undefined;
  const tableLines = async (rows: readonly JsonRecord[]): Promise<readonly string[]> =>
    (await output.tableText(rows, view)).split('\n').slice(0, -1);
  const draw = async (): Promise<void> => {
    if (last === undefined) return;
    const height = (stdout.rows ?? 24) - 2;
    const lines = await tableLines(last.rows);
    const hidden = Math.max(0, lines.length - height);
    const time = new Date(clock.now()).toTimeString().slice(0, 8);
    const more = hidden === 0 ? '' : `, ${hidden} of them below the screen`;
    const state = last.problem === undefined ? `read at ${time}` : sanitizeLine(last.problem);
    const footer = sanitizeLine(`${last.rows.length} ${resource}${more}; ${state}; Ctrl-C ends`, stdout.columns ?? 80);
    await screen.draw([...lines.slice(0, height), '', footer]);
  };
  const stopResizing = stdout.onResize?.(() => void draw());
  try {
    for await (const list of lists) {
      last = list;
      await progress.stop();
      await draw();
    }
  } finally {
    stopResizing?.();
    await screen.end(last === undefined ? [] : await tableLines(last.rows));
  }
}
