import type { Actor } from '../api/actor.ts';
import {
  type Droplet,
  type DropletReader,
  findDroplets,
  hasTag,
  type MatchingDroplets,
  matchDroplets,
  readDroplets,
} from '../api/droplets.ts';
import { createGlobMatcher } from '../api/list.ts';
import { CliError, type ExitCode, usageError } from '../base/errors.ts';
import { isId } from '../base/json.ts';
import { quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { pauseOf, quietForJson, showPause } from '../cli/command-io.ts';
import { requireValue, shortenInput } from '../cli/values.ts';
import type { ProfileIo } from './account.ts';
import { deleteDroplets, requireDeletable } from './delete.ts';
import { readLimits } from './limits.ts';

/** The words of a command, which a hint shows with an id. */
type Verb = 'droplets get' | 'droplets delete' | 'open droplet';

/** Deletes the droplets that the arguments name, or that have the tag of `--tag`; `deleteDroplets` says how. */
export async function deleteSelected(context: ProfileIo, actor: Actor, args: ParsedArgs): Promise<ExitCode> {
  const [texts, tag] = readSelection(args);
  const limits = readLimits(args);
  const isDryRun = args.has('dry-run');
  requireDeletable(context, isDryRun);
  const api = await actor.api();
  const io = { ...context, ...quietForJson(context) };
  const reader = { api, pause: pauseOf(io), onProgress: io.progress.count('droplets') };
  const droplets = await selectDroplets(texts, tag, args, reader).finally(() => io.progress.stop());
  const unmatched = tag === undefined ? texts.filter((text) => isPattern(text) && !matchesAny(text, droplets)) : [];
  if (unmatched.length > 0) await io.output.note(`No droplet matches ${unmatched.map(shortenInput).join(', ')}.`);
  if (tag !== undefined && droplets.length === 0) await io.output.note(`No droplet has the tag ${shortenInput(tag)}.`);
  return deleteDroplets(context, api, droplets, {
    loginHints: actor.loginHints(),
    ...limits,
    onPause: showPause(io),
    isDryRun,
    ...(context.prompts.interactive ? { actor: await actor.describeForPrompt() } : {}),
    profileOptions: actor.profileOptions(),
  });
}

/** The one droplet with this id or name. Throws `not_found`, and `usage` when several droplets match. */
export async function findDroplet(reader: DropletReader, text: string, verb: Verb): Promise<Droplet> {
  const found = (await findDroplets([text], reader)).get(text);
  const droplet = found === undefined ? undefined : requireOne(text, found, verb);
  if (droplet !== undefined) return droplet;
  throw new CliError(
    'not_found',
    isId(text) ? `no droplet has the id or name ${text}` : `no droplet has the name "${shortenInput(text)}"`,
    { hint: `list the droplets: \`cloudctl droplets list${isPattern(text) ? ` ${quoteShellArg(text)}` : ''}\`` },
  );
}

/** The only droplet to which the text can refer; undefined when there is none. Throws `usage` when several match. */
export function requireOne(text: string, { withId, withName }: MatchingDroplets, verb: Verb): Droplet | undefined {
  const typed = shortenInput(text);
  const others = withName.filter(({ id }) => id !== withId?.id);
  const [first] = others;
  if (withId !== undefined && first !== undefined)
    throw usageError(
      `"${typed}" is the id of one droplet and the name of another`,
      `for the droplet with this id, run \`cloudctl api ${verb === 'droplets delete' ? 'DELETE' : 'GET'} /v2/droplets/${withId.id}\`; for the one with this name, run \`cloudctl ${verb} ${first.id}\``,
      `droplet ${withId.id} has the name "${shortenInput(withId.name)}"; ${others.map(({ id }) => `droplet ${id}`).join(', ')} has the name "${typed}"`,
    );
  if (others.length > 1)
    throw usageError(
      `${others.length} droplets have the name "${typed}"`,
      `pass the id of one of them: \`cloudctl ${verb} ${first?.id}\``,
      `ids: ${others.map(({ id }) => id).join(', ')}`,
    );
  return withId ?? first;
}

function readSelection(args: ParsedArgs): readonly [texts: readonly string[], tag: string | undefined] {
  const texts = args.positionals;
  const tag = requireValue(args, 'tag', 'web');
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
      `DROPLET is not a valid shell pattern: "${shortenInput(text)}"`,
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
    return matches === undefined ? undefined : requireOne(text, matches, 'droplets delete');
  });
  const missing = exact.filter((_, at) => chosen[at] === undefined);
  if (missing.length > 0 && args.value('if-missing') !== 'skip') throw missingError(missing);
  return [...chosen.filter((droplet) => droplet !== undefined), ...(all ?? []).filter(isMatch)];
}

function missingError(missing: readonly string[]): CliError {
  const listed = missing.slice(0, 20).map((text) => `"${shortenInput(text)}"`);
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
