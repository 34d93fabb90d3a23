import { type ApiAction, listAllActions, readAction } from '../../api/actions.ts';
import type { ApiClient } from '../../api/client.ts';
import { createReader } from '../../api/list.ts';
import { usageError } from '../../base/errors.ts';
import { isLossless } from '../../base/exact.ts';
import { isJsonRecord, type JsonRecord, readId, readStringField } from '../../base/json.ts';
import type { CellValue, ListView } from '../../cli/columns.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { requireInteger, requireValue, shortenInput } from '../../cli/values.ts';
import type { CommandContext } from '../../context.ts';
import { limitOption, printList, watchOptions } from '../resource-list.ts';

/** The members of an action in the responses of the service. */
export const actionFields = [
  'id',
  'status',
  'type',
  'started_at',
  'completed_at',
  'resource_id',
  'resource_type',
  'region',
  'region_slug',
];

/** The columns of a table of actions. */
export const actionView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => scalar(row.id) },
    { name: 'Status', value: (row) => readStringField(row, 'status'), kind: 'state' },
    { name: 'Type', value: (row) => readStringField(row, 'type') },
    { name: 'StartedAt', value: (row) => readStringField(row, 'started_at'), kind: 'time' },
    { name: 'CompletedAt', value: (row) => readStringField(row, 'completed_at'), kind: 'time', priority: 2 },
    { name: 'ResourceID', value: (row) => scalar(row.resource_id) },
    { name: 'ResourceType', value: (row) => readStringField(row, 'resource_type'), priority: 1 },
    { name: 'Region', value: regionOf, priority: 3 },
  ],
};

export const actionsList: CommandSpec<CommandContext> = {
  description: 'Lists every action of the account, newest first, including actions in progress. Reads all pages.',
  options: [
    { name: 'page-size', valueName: 'N', description: 'actions per request, 1 to 200 (default: 200)' },
    limitOption,
    {
      name: 'status',
      valueName: 'STATUS',
      description: 'only actions with this status',
      choices: ['in-progress', 'completed', 'errored'],
    },
    {
      name: 'type',
      valueName: 'TYPE',
      description: 'only actions of this type, such as create',
      completion: [
        'create',
        'destroy',
        'power_on',
        'power_off',
        'power_cycle',
        'reboot',
        'shutdown',
        'resize',
        'snapshot',
      ],
    },
    {
      name: 'resource-type',
      valueName: 'TYPE',
      description: 'only actions on this type of resource, such as droplet',
      completion: ['droplet', 'database', 'image', 'volume'],
    },
    { name: 'region', valueName: 'SLUG', description: 'only actions in this region', completion: { from: 'region' } },
    { name: 'after', valueName: 'TIME', description: 'only actions started after this time (ISO 8601, UTC)' },
    { name: 'before', valueName: 'TIME', description: 'only actions started before this time (ISO 8601, UTC)' },
    ...watchOptions,
  ],
  examples: [
    { text: 'List the actions in progress', command: 'cloudctl actions list --status in-progress' },
    {
      text: 'Follow the actions in progress until Ctrl-C',
      command: 'cloudctl actions list --status in-progress --watch',
    },
    {
      text: 'List the actions of one day as JSON',
      command: 'cloudctl actions list --after 2026-01-01 --before 2026-01-02 -o json',
    },
  ],
  columns: actionView.columns,
  fields: actionFields,
  run: async (context, args) => {
    const pageSize = requireInteger(args.value('page-size') ?? '200', '--page-size', { min: 1, max: 200 });
    const filter = actionFilter(args);
    const isFiltered = filterOptions.some((name) => args.has(name));
    const matches = isFiltered ? filter : undefined;
    return printList(context, args, {
      view: actionView,
      resource: 'actions',
      filters: filterOptions,
      list: (api, options) => listAllActions(api, { ...options, pageSize, matches }),
      reread: rereadAction,
    });
  },
};

/** Reads an action that the filter no longer matches, most often because the action has ended. */
async function rereadAction(api: ApiClient, row: JsonRecord): Promise<JsonRecord | undefined> {
  const id = readId(row.id);
  return id === undefined ? undefined : (await readAction(createReader(api), id)).raw;
}

const filterOptions = ['status', 'type', 'resource-type', 'region', 'after', 'before'];

function actionFilter(args: ParsedArgs): (action: ApiAction) => boolean {
  const status = args.value('status');
  const type = requireValue(args, 'type', 'create');
  const resourceType = requireValue(args, 'resource-type', 'droplet');
  const region = requireValue(args, 'region', 'nyc3');
  const after = parseTimeOption(args, 'after');
  const before = parseTimeOption(args, 'before');
  if (after !== undefined && before !== undefined && after >= before)
    throw usageError('--after is not earlier than --before', 'pass the earlier time to `--after`');
  return ({ raw }) => {
    const started = Date.parse(readStringField(raw, 'started_at') ?? '');
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

function parseTimeOption(args: ParsedArgs, option: string): number | undefined {
  const text = args.value(option);
  if (text === undefined) return undefined;
  const [, day = '', clock = '00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text) ?? [];
  // Times without a time zone are interpreted as UTC, as in the list of actions. Without the added `Z`, Date.parse would use
  // the time zone of this machine.
  const time = isCalendarDay(day) ? Date.parse(`${day}T${clock}${zone}`) : Number.NaN;
  if (Number.isNaN(time))
    throw usageError(
      `--${option} is not a time: "${shortenInput(text)}"`,
      `use a form such as \`--${option} 2026-01-31T08:00:00Z\``,
    );
  return time;
}

/** Refuses a date such as 30 February, which Date.parse reads as 2 March. */
function isCalendarDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function regionOf(row: JsonRecord): string | undefined {
  const region = row.region;
  return readStringField(row, 'region_slug') ?? (isJsonRecord(region) ? readStringField(region, 'slug') : undefined);
}

function scalar(value: unknown): CellValue {
  return typeof value === 'string' || typeof value === 'number' || isLossless(value) ? value : undefined;
}
