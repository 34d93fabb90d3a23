import { type Droplet, listDroplets } from '../../api/droplets.ts';
import type { Portion } from '../../api/pages.ts';
import { globMatcher } from '../../api/select.ts';
import type { Cell, ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { given } from '../../cli/given.ts';
import type { Pages } from '../../cli/listing.ts';
import { wholeNumber } from '../../cli/number.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import { exactOf, isRecord, type JsonRecord, textOf } from '../../json.ts';
import { limitPause } from '../limit-pause.ts';

/** Columns by the names accustomed tools use. */
const view: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => exactOf(row, 'id') },
    { name: 'Name', value: (row) => textOf(row, 'name') },
    { name: 'PublicIPv4', value: publicAddress },
    { name: 'Memory', value: (row) => exactOf(row, 'memory') },
    { name: 'VCPUs', value: (row) => exactOf(row, 'vcpus') },
    { name: 'Disk', value: (row) => exactOf(row, 'disk') },
    { name: 'Region', value: (row) => slugOf(row.region) },
    { name: 'Image', value: (row) => imageOf(row.image) },
    { name: 'Size', value: (row) => textOf(row, 'size_slug') ?? slugOf(row.size) },
    { name: 'Status', value: (row) => textOf(row, 'status') },
    { name: 'Tags', value: tagsOf },
    { name: 'CreatedAt', value: (row) => textOf(row, 'created_at') },
  ],
};

export const list: CommandSpec<Context> = {
  summary: 'list droplets',
  description:
    'Every droplet, all pages. GLOB keeps those whose name matches a shell pattern; quote it, so that the shell does not expand it itself.',
  arguments: [{ name: 'GLOB', description: 'a pattern for names, as in "web-*"' }],
  options: [
    { name: 'region', value: 'R', description: 'only those in this region' },
    { name: 'tag', value: 'T', description: 'only those with this tag' },
    { name: 'limit', value: 'N', description: 'stop after so many' },
  ],
  examples: [
    { text: 'The web servers in one region', command: "cloudctl droplets list 'web-*' --region nyc3" },
    { text: 'Only ids and addresses', command: 'cloudctl droplets list --format ID,PublicIPv4 --no-header' },
    {
      text: 'Names of what is not active',
      command: 'cloudctl droplets list --query "[?status!=\'active\'].name" -o json',
    },
  ],
  run: async (context, words) => {
    const [glob] = words.args;
    const region = given(words, 'region', 'nyc3');
    const tag = given(words, 'tag', 'web');
    const limit =
      words.text('limit') === undefined ? undefined : wholeNumber(words.text('limit') ?? '', '--limit', { min: 1 });
    const matches = glob === undefined ? undefined : matcherOf(glob);
    context.output.checkColumns(view);
    const api = await context.api(context.settings());
    const droplets = listDroplets(api, tag === undefined ? {} : { tag }, {
      limit,
      matches:
        matches === undefined && region === undefined && tag === undefined
          ? undefined
          : ({ name, raw }) =>
              matches?.(name) !== false &&
              (region === undefined || slugOf(raw.region) === region) &&
              (tag === undefined || mayHaveTag(raw, tag)),
      onProgress: context.progress.count('droplets'),
      pause: limitPause(context),
    });
    await context.output.pages(rows(droplets), view).finally(() => context.progress.stop());
    return 0;
  },
};

async function* rows(portions: AsyncIterable<Portion<Droplet>>): Pages<JsonRecord> {
  for await (const { items, lines } of portions) yield { rows: () => items().map(({ raw }) => raw), lines };
}

/** A server that does not know the filter gives all droplets, and whoever reads the list may delete them. Tags have no case. */
function mayHaveTag({ tags }: JsonRecord, wanted: string): boolean {
  return !Array.isArray(tags) || tags.some((tag) => String(tag).toLowerCase() === wanted.toLowerCase());
}

function matcherOf(glob: string): (name: string) => boolean {
  if (glob.trim() === '') throw usage('GLOB is empty', 'leave it out to list all droplets');
  try {
    return globMatcher(glob);
  } catch {
    throw usage('GLOB is not a shell pattern', "write it as in `cloudctl droplets list 'web-*'`");
  }
}

function publicAddress(row: JsonRecord): Cell {
  const networks = isRecord(row.networks) ? row.networks.v4 : undefined;
  if (!Array.isArray(networks)) return undefined;
  const open = networks.find((network) => isRecord(network) && network.type === 'public');
  return isRecord(open) ? textOf(open, 'ip_address') : undefined;
}

function slugOf(value: unknown): string | undefined {
  return isRecord(value) ? textOf(value, 'slug') : undefined;
}

/** As a person would say it: distribution and name, else the slug. */
function imageOf(value: unknown): Cell {
  if (!isRecord(value)) return undefined;
  const parts = [textOf(value, 'distribution'), textOf(value, 'name')].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(' ') : textOf(value, 'slug');
}

function tagsOf(row: JsonRecord): Cell {
  return Array.isArray(row.tags) ? row.tags.filter((tag) => typeof tag === 'string').join(',') : undefined;
}
