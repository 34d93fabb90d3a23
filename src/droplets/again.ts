// Creates droplets of a ledger in a new batch, where the ledger itself cannot be continued or is complete.

import { readDroplet } from '../api/droplets.ts';
import { CliError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import { quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import type { Run } from './io.ts';
import { readerOf } from './lane.ts';
import type { Ledger } from './ledger.ts';
import { exclusiveTag } from './match.ts';
import { recordedExtra } from './options.ts';
import type { BatchState } from './state.ts';
import { describeUserData, type UserData, userDataOption } from './user-data.ts';
import { createPoller } from './wait.ts';

/**
 * Ids of created and skipped droplets of a complete ledger that do not exist any more. Lists lag, so a droplet that the lists lack
 * is read by its id.
 */
export async function readMissing({ ledger, lane, ending }: Run): Promise<ReadonlySet<string>> {
  const { state } = ledger;
  const rows = [...state.rows()].flatMap((row) => ('id' in row && row.id !== undefined ? [[row.id, row.status]] : []));
  // Skipped droplets need not have the tag of the batch.
  const isTagged = rows.every(([, status]) => status === 'created');
  const poller = createPoller(lane, isTagged ? exclusiveTag(state.batch) : undefined);
  const missing = new Set<string>();
  const ids = rows.map(([id = '']) => id);
  for (const id of await poller.poll(ids, () => {}, ending))
    if ((await readDroplet(readerOf(lane, ending), id)) === undefined) missing.add(id);
  return missing;
}

/** Names with a droplet id of the set, in the order of the batch. */
export function namesWithIds(state: BatchState, ids: ReadonlySet<string>): readonly string[] {
  return rowsWithIds(state, ids).map(({ name }) => name);
}

function rowsWithIds(state: BatchState, ids: ReadonlySet<string>): readonly Readonly<Record<'name' | 'id', string>>[] {
  return [...state.rows()].flatMap((row) =>
    'id' in row && row.id !== undefined && ids.has(row.id) ? [{ name: row.name, id: row.id }] : [],
  );
}

/** The error for droplets of a complete ledger that do not exist any more. */
export function missingError(state: BatchState, ids: ReadonlySet<string>, hint: string): CliError {
  const listed = rowsWithIds(state, ids).map(({ name, id }) => `${name} (${id})`);
  const more = listed.length > 20 ? ` and ${listed.length - 20} more` : '';
  return new CliError(
    'batch_partial',
    `${listed.length} of ${state.batch.names.length} droplets do not exist any more`,
    {
      detail: `${listed.slice(0, 20).join(', ')}${more}`,
      hint,
    },
  );
}

/** The options that a command in a hint repeats, quoted for a shell. */
export function repeatedOptions(args: ParsedArgs, profileOptions: readonly string[]): readonly string[] {
  const sizes = ['batch-size', 'concurrency', 'max-wait', 'wait-timeout', 'retry-for'].flatMap((option) => {
    const value = args.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  return [...sizes, ...(args.has('wait') ? ['--wait'] : []), ...profileOptions];
}

/** The most names that a hint lists; more are read from the ledger. */
const maxListed = 50;

/**
 * The hint with the command that creates these names in a new batch: existing droplets are skipped. A batch with `--batch-id`
 * finds its own droplets by their tags, so all its names are given.
 */
export function newBatchHint(
  { path, state }: Pick<Ledger, 'path' | 'state'>,
  missing: readonly string[],
  args: ParsedArgs,
  profileOptions: readonly string[],
  userData: Pick<UserData, 'file'> | undefined,
): string {
  const { batch } = state;
  const { size, image, region, user_data } = batch.attributes;
  const isTagged = batch.content_hash !== undefined;
  const names = isTagged ? batch.names : missing;
  const { user_data: typed, ...extra } = recordedExtra(batch);
  // With `--if-exists create`, other droplets with these names were asked for, too.
  const ifExists = isTagged || batch.if_exists === 'create' ? batch.if_exists : 'skip';
  const isPiped = names.length > maxListed && ifExists !== 'create';
  const list = `cloudctl droplets batches show ${quoteShellArg(path)} --offline --format Name --no-header -o csv`;
  const hasUserData = user_data !== undefined || typed !== undefined;
  const file = userData === undefined || userData.file === '-' ? 'FILE' : quoteShellArg(userData.file);
  const command = [
    isPiped
      ? `${list} | cloudctl droplets create --names-from -`
      : `cloudctl droplets create ${names.map(quoteShellArg).join(' ')}`,
    ...(isTagged ? [`--batch-id ${quoteShellArg(batch.id)}`] : []),
    ...(ifExists === 'fail' ? [] : [`--if-exists ${ifExists}`]),
    `--size ${quoteShellArg(size)}`,
    `--image ${quoteShellArg(String(image))}`,
    ...(region === undefined ? [] : [`--region ${quoteShellArg(region)}`]),
    ...Object.entries(extra).map(([key, value]) => `--set ${quoteShellArg(`${key}=${stringifyExact(value)}`)}`),
    ...(hasUserData ? [`--${userDataOption.name} ${file}`] : []),
    ...repeatedOptions(args, profileOptions),
  ].join(' ');
  const hint = `create them in a new batch with \`${command}\``;
  if (!hasUserData || file !== 'FILE') return hint;
  const digest = user_data === undefined ? '' : ` (${describeUserData(user_data)})`;
  return `${hint}, and replace FILE: the ledger does not contain the user data${digest}`;
}
