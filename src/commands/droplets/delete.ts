import type { Droplet } from '../../api/droplets.ts';
import { type DropletReader, findDroplets, hasTag, matchDroplets, readDroplets } from '../../api/droplets.ts';
import { createGlobMatcher } from '../../api/list.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { requireNonEmptyValue, shortenInputForError } from '../../cli/values.ts';

import { describeActor, readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import { deleteDroplets, limitOptions, readLimits, requireDeletable } from '../../droplets/index.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { createRateLimitDelayWithProgress, showRateLimitWait } from '../rate-limit-pause.ts';
import { requireOneDroplet } from './require-one-droplet.ts';

export const dropletsDeleteCommand: CommandSpec<CommandContext> = {
  description:
    'Deletes droplets by id, name, shell pattern or tag. It first lists the droplets, and deletes exactly these after a confirmation: `--yes` confirms in a script. An id or a name that no droplet has is an error, and then nothing is deleted. A pattern or a tag without droplets is not an error.\n\nThe output has one row for every droplet: deleted, failed or unknown. A request without a clear response is repeated, and then the droplet is looked up.',
  arguments: [
    {
      name: 'DROPLET',
      description: 'Id, name, or shell pattern for names, for example "web-*"',
      variadic: true,
      completion: { from: 'droplet' },
    },
  ],
  options: [
    { name: 'tag', valueName: 'TAG', description: 'Delete the droplets with this tag' },
    {
      name: 'if-missing',
      valueName: 'ACTION',
      choices: ['fail', 'skip'],
      description: 'When no droplet has an id or a name: fail, or skip it (default: fail)',
    },
    { name: 'dry-run', description: 'List the droplets that would be deleted, without deleting them' },
    ...limitOptions,
  ],
  examples: [
    { text: 'Delete two droplets', command: 'cloudctl droplets delete web-01 400000013' },
    { text: 'List the droplets that a pattern would delete', command: "cloudctl droplets delete 'ci-*' --dry-run" },
    { text: 'Delete the droplets of a test run in a script', command: 'cloudctl droplets delete --tag ci-1234 --yes' },
  ],
  fields: ['id', 'name', 'region', 'created_at', 'status', 'already_gone', 'error'],
  run: async (context, args) => {
    const [texts, tag] = readSelection(args);
    const { concurrency, maxWait } = readLimits(args);
    const isDryRun = args.has('dry-run');
    requireDeletable(context, isDryRun);
    const settings = context.settings();
    const api = await context.api(settings);
    const io = { ...context, ...quietForJson(context) };
    const reader = { api, pause: createRateLimitDelayWithProgress(io), onProgress: io.progress.count('droplets') };
    const droplets = await selectDroplets(texts, tag, args, reader).finally(() => io.progress.stop());
    const unmatched = tag === undefined ? texts.filter((text) => isPattern(text) && !matchesAny(text, droplets)) : [];
    if (unmatched.length > 0)
      await io.output.note(`No droplet matches ${unmatched.map(shortenInputForError).join(', ')}.`);
    if (tag !== undefined && droplets.length === 0)
      await io.output.note(`No droplet has the tag ${shortenInputForError(tag)}.`);
    const actor = context.prompts.interactive
      ? await describeActor(context, settings, await readStoredAccountAndServerOrigins(context, settings))
      : undefined;
    return deleteDroplets(context, api, droplets, {
      loginHints: refusedHints(settings, context.host.folders.config),
      concurrency,
      maxWait,
      onPause: (ms) => showRateLimitWait(io, ms),
      isDryRun,
      ...(actor === undefined ? {} : { actor }),
      profileOptions: formatProfileAndServerOptions(context.globals, settings.profile),
    });
  },
};

function readSelection(args: ParsedArgs): readonly [texts: readonly string[], tag: string | undefined] {
  const texts = args.positionals;
  const tag = requireNonEmptyValue(args, 'tag', 'web');
  if (args.values('tag').length > 1) throw usageError('--tag was given more than once', 'pass one tag');
  if (texts.some((text) => text.trim() === ''))
    throw usageError('DROPLET is empty', 'pass an id, a name or a pattern, such as `cloudctl droplets delete web-01`');
  if (tag !== undefined && texts.length > 0)
    throw usageError(
      'cannot use --tag with DROPLET',
      `list the droplets with \`cloudctl droplets list 'web-*' --tag web\`, and pass their ids`,
    );
  if (tag === undefined && texts.length === 0)
    throw usageError('DROPLET is missing', 'pass ids, names or patterns, or `--tag TAG`');
  for (const text of texts) if (isPattern(text)) requirePattern(text);
  return [texts, tag];
}

function isPattern(text: string): boolean {
  return /[*?[]/.test(text);
}

function matchesAny(pattern: string, droplets: readonly Droplet[]): boolean {
  const matches = createGlobMatcher(pattern);
  return droplets.some(({ name }) => matches(name));
}

function requirePattern(text: string): void {
  try {
    createGlobMatcher(text);
  } catch {
    throw usageError(
      `DROPLET is not a valid shell pattern: "${shortenInputForError(text)}"`,
      "write the pattern as in `cloudctl droplets delete 'web-*'`",
    );
  }
}

async function selectDroplets(
  texts: readonly string[],
  tag: string | undefined,
  args: ParsedArgs,
  reader: DropletReader,
): Promise<readonly Droplet[]> {
  if (tag !== undefined) {
    // A server that does not support the tag filter returns all droplets.
    return readDroplets(reader, { tag }, (droplet) => hasTag(droplet, tag));
  }
  const matchers = texts.filter(isPattern).map(createGlobMatcher);
  const exact = texts.filter((text) => !isPattern(text));
  const wanted = new Set(exact);
  const isMatch = ({ name }: Droplet): boolean => matchers.some((matches) => matches(name));
  const isWanted = ({ id, name }: Droplet): boolean => wanted.has(name) || wanted.has(String(id));
  // A pattern needs the whole list of droplets, which also contains the droplets with exact ids and names.
  const all =
    matchers.length === 0
      ? undefined
      : await readDroplets(reader, {}, (droplet) => isMatch(droplet) || isWanted(droplet));
  const found = all === undefined ? await findDroplets(exact, reader) : undefined;
  const chosen = exact.map((text) => {
    const matches = all === undefined ? found?.get(text) : matchDroplets(text, all);
    return matches === undefined ? undefined : requireOneDroplet(text, matches, 'droplets delete');
  });
  const missing = exact.filter((_, at) => chosen[at] === undefined);
  if (missing.length > 0 && args.value('if-missing') !== 'skip') throw missingError(missing);
  return [...chosen.filter((droplet) => droplet !== undefined), ...(all ?? []).filter(isMatch)];
}

function missingError(missing: readonly string[]): CliError {
  const listed = missing.slice(0, 20).map((text) => `"${shortenInputForError(text)}"`);
  const more = missing.length > listed.length ? ` and ${missing.length - listed.length} more` : '';
  return new CliError(
    'not_found',
    missing.length === 1
      ? `no droplet has the id or name ${listed[0]}`
      : `${missing.length} arguments match no droplet`,
    {
      detail: `${missing.length === 1 ? '' : `${listed.join(', ')}${more}; `}nothing was deleted`,
      hint: 'list the droplets with `cloudctl droplets list`, or skip what does not exist with `--if-missing skip`',
    },
  );
}
