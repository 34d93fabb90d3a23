import { type Action, listActions } from '../../api/actions.ts';
import type { Portion } from '../../api/pages.ts';
import type { Cell, ListView } from '../../cli/columns.ts';
import type { CommandSpec, Words } from '../../cli/command.ts';
import { given } from '../../cli/given.ts';
import type { Pages } from '../../cli/listing.ts';
import { wholeNumber } from '../../cli/number.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import { isExact } from '../../exact.ts';
import { isRecord, type JsonRecord, textOf } from '../../json.ts';
import { limitPause } from '../limit-pause.ts';

const view: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => scalar(row.id) },
    { name: 'Status', value: (row) => textOf(row, 'status') },
    { name: 'Type', value: (row) => textOf(row, 'type') },
    { name: 'StartedAt', value: (row) => textOf(row, 'started_at') },
    { name: 'CompletedAt', value: (row) => textOf(row, 'completed_at') },
    { name: 'ResourceID', value: (row) => scalar(row.resource_id) },
    { name: 'ResourceType', value: (row) => textOf(row, 'resource_type') },
    { name: 'Region', value: regionOf },
  ],
};

export const list: CommandSpec<Context> = {
  summary: 'list actions, newest first',
  description: 'Every action that was executed on the account, all pages, actions in progress included.',
  options: [
    { name: 'page-size', value: 'N', description: 'actions in one request, 1 to 200 (200)' },
    { name: 'limit', value: 'N', description: 'stop after so many' },
    {
      name: 'status',
      value: 'S',
      description: 'only those in this status',
      choices: ['in-progress', 'completed', 'errored'],
    },
    { name: 'type', value: 'T', description: 'only those of this type, such as create' },
    { name: 'resource-type', value: 'R', description: 'only those on this type of resource, such as droplet' },
    { name: 'region', value: 'R', description: 'only those in this region' },
    { name: 'after', value: 'TIME', description: 'only those started after this time (ISO 8601, UTC)' },
    { name: 'before', value: 'TIME', description: 'only those started before this time (ISO 8601, UTC)' },
  ],
  examples: [
    { text: 'What is going on right now', command: 'cloudctl actions list --status in-progress' },
    { text: 'One day, as JSON', command: 'cloudctl actions list --after 2026-01-01 --before 2026-01-02 -o json' },
  ],
  run: async (context, words) => {
    const pageSize = wholeNumber(words.text('page-size') ?? '200', '--page-size', { min: 1, max: 200 });
    const limit =
      words.text('limit') === undefined ? undefined : wholeNumber(words.text('limit') ?? '', '--limit', { min: 1 });
    const matches = filterOf(words);
    const isFiltered = filters.some((name) => words.text(name) !== undefined);
    context.output.checkColumns(view);
    const api = await context.api(context.settings());
    const actions = listActions(api, {
      limit,
      pageSize,
      matches: isFiltered ? matches : undefined,
      onProgress: context.progress.count('actions'),
      pause: limitPause(context),
    });
    await context.output.pages(rows(actions), view).finally(() => context.progress.stop());
    return 0;
  },
};

const filters = ['status', 'type', 'resource-type', 'region', 'after', 'before'];

function filterOf(words: Words): (action: Action) => boolean {
  const status = words.text('status');
  const type = given(words, 'type', 'create');
  const resourceType = given(words, 'resource-type', 'droplet');
  const region = given(words, 'region', 'nyc3');
  const after = timeOf(words, 'after');
  const before = timeOf(words, 'before');
  if (after !== undefined && before !== undefined && after >= before)
    throw usage('--after is not earlier than --before', 'give the earlier time to `--after`');
  return ({ raw }) => {
    const started = Date.parse(textOf(raw, 'started_at') ?? '');
    return (
      (status === undefined || raw.status === status) &&
      (type === undefined || raw.type === type) &&
      (resourceType === undefined || raw.resource_type === resourceType) &&
      (region === undefined || regionOf(raw) === region) &&
      (after === undefined || started > after) &&
      (before === undefined || started < before)
    );
  };
}

function timeOf(words: Words, option: string): number | undefined {
  const text = words.text(option);
  if (text === undefined) return undefined;
  const [, day = '', clock = '00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text) ?? [];
  // Without a zone it is UTC, as in what is listed: Date.parse takes a date for UTC, and a time for this machine's.
  const time = isDay(day) ? Date.parse(`${day}T${clock}${zone}`) : Number.NaN;
  if (Number.isNaN(time))
    throw usage(`--${option} is not a time`, `write it as in \`--${option} 2026-01-31T08:00:00Z\``);
  return time;
}

/** Date.parse takes the 30th of February for the 2nd of March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

async function* rows(portions: AsyncIterable<Portion<Action>>): Pages<JsonRecord> {
  for await (const { items, lines } of portions) yield { rows: () => items().map(({ raw }) => raw), lines };
}

function regionOf(row: JsonRecord): string | undefined {
  const region = row.region;
  return textOf(row, 'region_slug') ?? (isRecord(region) ? textOf(region, 'slug') : undefined);
}

function scalar(value: unknown): Cell {
  return typeof value === 'string' || typeof value === 'number' || isExact(value) ? value : undefined;
}
