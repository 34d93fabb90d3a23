import type { ApiClient } from '../../api/client.ts';
import {
  type Droplet,
  type DropletFilter,
  hasTag,
  listDroplets,
  publicAddress,
  readDroplet,
} from '../../api/droplets.ts';
import { createGlobMatcher, createReader } from '../../api/list.ts';
import { usageError } from '../../base/errors.ts';
import { isJsonRecord, type JsonRecord, readExactField, readId, readStringField } from '../../base/json.ts';
import { type CellValue, type ListView, linkColumn } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { requireValue } from '../../cli/values.ts';
import { findPanelUrls } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';
import { limitOption, printList, watchOptions } from '../resource-list.ts';

/** The table of droplets has the column names of `doctl`. */
export const dropletView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => readExactField(row, 'id') },
    { name: 'Name', value: (row) => readStringField(row, 'name') },
    { name: 'PublicIPv4', value: publicAddress },
    { name: 'Memory', value: (row) => readExactField(row, 'memory'), priority: 6 },
    { name: 'VCPUs', value: (row) => readExactField(row, 'vcpus'), priority: 5 },
    { name: 'Disk', value: (row) => readExactField(row, 'disk'), priority: 7 },
    { name: 'Region', value: (row) => slugOf(row.region) },
    { name: 'Image', value: (row) => imageOf(row.image), priority: 3 },
    { name: 'Size', value: (row) => readStringField(row, 'size_slug') ?? slugOf(row.size), priority: 2 },
    { name: 'Status', value: (row) => readStringField(row, 'status'), kind: 'state' },
    { name: 'Tags', value: tagsOf, priority: 4 },
    { name: 'CreatedAt', value: (row) => readStringField(row, 'created_at'), kind: 'time', priority: 1 },
  ],
};

/** The members of a droplet in the responses of the service. */
export const dropletFields = [
  'id',
  'name',
  'memory',
  'vcpus',
  'disk',
  'locked',
  'status',
  'kernel',
  'created_at',
  'features',
  'backup_ids',
  'next_backup_window',
  'snapshot_ids',
  'volume_ids',
  'size_slug',
  'networks',
  'tags',
  'vpc_uuid',
  'image',
  'size',
  'region',
];

/** The view of droplets. If the address of the control panel is known, each id is a hyperlink to its page. */
export function linkedView(context: CommandContext): ListView<JsonRecord> {
  const pages = findPanelUrls(context.host.folders.state, context.settings().values.auth_url);
  return pages === undefined ? dropletView : linkColumn(dropletView, 'ID', pages.droplet);
}

export const dropletsList: CommandSpec<CommandContext> = {
  description:
    'Lists all droplets of the account. With GLOB, lists only those whose name matches the shell pattern. Quote the pattern, so that the shell does not expand it. With --watch, a droplet that is gone is printed with the status `deleted`.',
  arguments: [
    { name: 'GLOB', description: 'Shell pattern for names, for example "web-*"', completion: { from: 'droplet' } },
  ],
  options: [
    { name: 'region', valueName: 'SLUG', description: 'Only droplets in this region', completion: { from: 'region' } },
    { name: 'tag', valueName: 'TAG', description: 'Only droplets with this tag' },
    limitOption,
    ...watchOptions,
  ],
  examples: [
    { text: 'List the web servers in one region', command: "cloudctl droplets list 'web-*' --region nyc3" },
    { text: 'Follow the droplets until Ctrl-C', command: 'cloudctl droplets list --watch' },
    { text: 'Print only ids and addresses', command: 'cloudctl droplets list --format ID,PublicIPv4 --no-header' },
    {
      text: 'Print the names of droplets that are not active',
      command: 'cloudctl droplets list --query "[?status!=\'active\'].name" -o json',
    },
  ],
  columns: dropletView.columns,
  fields: dropletFields,
  run: async (context, args) => {
    const [glob] = args.positionals;
    const region = requireValue(args, 'region', 'nyc3');
    const tag = requireValue(args, 'tag', 'web');
    const matchesName = glob === undefined ? undefined : matcherOf(glob);
    const matches = ({ name, raw }: Droplet): boolean =>
      matchesName?.(name) !== false &&
      (region === undefined || slugOf(raw.region) === region) &&
      (tag === undefined || mayHaveTag(raw, tag));
    const isFiltered = glob !== undefined || region !== undefined || tag !== undefined;
    return printList(context, args, {
      view: linkedView(context),
      resource: 'droplets',
      remember: 'droplets',
      filters: ['region', 'tag'],
      list: (api, options) =>
        listDroplets(api, serverFilter(glob, tag), { ...options, matches: isFiltered ? matches : undefined }),
      reread: isFiltered ? rereadDroplet : async (_, row) => deletedDroplet(row),
    });
  },
};

/** Reads a droplet that left the list: it was deleted, or the filter no longer matches it. */
async function rereadDroplet(api: ApiClient, row: JsonRecord): Promise<JsonRecord> {
  const droplet = await readDroplet(createReader(api), readId(row.id) ?? '');
  return droplet?.raw ?? deletedDroplet(row);
}

/** The API has no status for deleted droplets, so the program sets the status `deleted`. */
function deletedDroplet(row: JsonRecord): JsonRecord {
  return { ...row, status: 'deleted' };
}

/** The filter by tag or by name: the public API does not combine both filters. */
function serverFilter(glob: string | undefined, tag: string | undefined): DropletFilter {
  if (tag !== undefined) return { tag };
  return glob === undefined || /[*?[]/.test(glob) ? {} : { name: glob };
}

/**
 * The tags are compared again, because a server that does not support the tag filter returns all droplets, and a script may
 * delete the listed droplets.
 */
function mayHaveTag(row: JsonRecord, wanted: string): boolean {
  return !Array.isArray(row.tags) || hasTag({ raw: row }, wanted);
}

function matcherOf(glob: string): (name: string) => boolean {
  if (glob.trim() === '') throw usageError('GLOB is empty', 'remove GLOB to list all droplets');
  try {
    return createGlobMatcher(glob);
  } catch {
    throw usageError('GLOB is not a valid shell pattern', "write the pattern as in `cloudctl droplets list 'web-*'`");
  }
}

function slugOf(value: unknown): string | undefined {
  return isJsonRecord(value) ? readStringField(value, 'slug') : undefined;
}

/** Distribution and name of the image, or its slug if both are missing. */
function imageOf(value: unknown): CellValue {
  if (!isJsonRecord(value)) return undefined;
  const parts = [readStringField(value, 'distribution'), readStringField(value, 'name')].filter(
    (part) => part !== undefined,
  );
  return parts.length > 0 ? parts.join(' ') : readStringField(value, 'slug');
}

function tagsOf(row: JsonRecord): CellValue {
  return Array.isArray(row.tags) ? row.tags.filter((tag) => typeof tag === 'string').join(',') : undefined;
}
