import type { Droplet } from '../api/droplets.ts';
import { stringifyExact } from '../base/exact.ts';
import { isJsonRecord, tryParseExactJson } from '../base/json.ts';
import { quoteShellArg } from '../base/text.ts';
import type { ListView } from '../cli/columns.ts';
import { type Attributes, type Numeric, numericIds } from './events.ts';
import { addIfTagged, findTagged, noneTagged, untilConclusive } from './existing.ts';
import type { BatchIo } from './io.ts';
import { createLane, type Lane, type LaneOptions } from './lane.ts';
import { createFinder } from './lookup.ts';
import { describeDifference } from './match.ts';
import { buildRequests } from './request.ts';
import type { BatchState, Row } from './state.ts';
import { describeUserData, type UserData } from './user-data.ts';

/** The action that a batch would take for one name. */
interface PlanRow {
  readonly name: string;
  readonly status: 'create' | 'exists' | 'differs';
  readonly id?: string;
  readonly difference?: string;
}

export const planView: ListView<Numeric<PlanRow>> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => row.id },
    { name: 'Difference', value: (row) => row.difference },
  ],
};

/** Prints what a run would do for each name. Only reads. */
export async function printPlan(
  { host, output, progress }: BatchIo,
  state: BatchState,
  lane: Omit<LaneOptions, 'clock'>,
): Promise<void> {
  const rows = await planBatch(state, createLane({ ...lane, clock: host.clock }));
  await progress.stop();
  await output.list(rows.map(numericIds), planView);
}

/**
 * Compares the names of a batch with the droplets of the account. Droplets with the tag of the same `--batch-id` that are not
 * in the batch get additional rows at the end.
 */
async function planBatch(state: BatchState, lane: Lane): Promise<readonly PlanRow[]> {
  const { batch, hasName } = state;
  const { signal } = new AbortController();
  const isShared = batch.content_hash !== undefined;
  const tagged = isShared ? (await untilConclusive(() => findTagged(lane, state, signal))).droplets : noneTagged();
  const names = batch.names.filter((_, at) => !tagged.own.has(at));
  const found = await untilConclusive(() => createFinder(lane).find({ names, has: hasName }, signal));
  const untagged = new Map<string, readonly Droplet[]>();
  for (const [name, droplets] of found.droplets)
    untagged.set(
      name,
      droplets.filter((droplet) => !isShared || !addIfTagged(state, tagged, droplet)),
    );
  const foreign = new Map(tagged.foreign.map((one) => [one.id, one]));
  const rows = batch.names.map((name, at): PlanRow => {
    const ids = tagged.own.get(at);
    if (ids !== undefined) return ownRow(name, ids);
    const differing = tagged.foreign.find((one) => one.name === name);
    if (differing !== undefined) {
      foreign.delete(differing.id);
      return { name, status: 'differs', id: differing.id, difference: differing.difference };
    }
    return untaggedRow(state, state.rowAt(at), untagged.get(name) ?? []);
  });
  return [...rows, ...[...foreign.values()].map((one): PlanRow => ({ ...one, status: 'differs' }))];
}

function ownRow(name: string, ids: readonly string[]): PlanRow {
  const [id = ''] = ids;
  if (ids.length === 1) return { name, status: 'exists', id };
  return { name, status: 'differs', id, difference: `several droplets have the tag of this batch: ${ids.join(', ')}` };
}

function untaggedRow({ batch }: BatchState, row: Row, droplets: readonly Droplet[]): PlanRow {
  const { name } = row;
  if (row.status === 'created') {
    if (droplets.some(({ id }) => id === row.id)) return { name, status: 'exists', id: row.id };
    return {
      name,
      status: 'differs',
      id: row.id,
      difference: 'the droplet that the ledger names does not exist any more',
    };
  }
  const [first, ...others] = droplets;
  if (first === undefined || batch.if_exists === 'create') return { name, status: 'create' };
  const several = others.length === 0 ? [] : [`${droplets.length} droplets have this name`];
  const differences = [...new Set(droplets.map(({ raw }) => describeDifference(raw, batch.attributes)))];
  const difference = [...several, ...differences.filter((one) => one !== '')].join('; ');
  if (difference === '') return { name, status: 'exists', id: first.id };
  return { name, status: 'differs', id: first.id, difference };
}

/** Prints the requests for the names instead of sending them. */
export async function printDryRun(
  { output }: Pick<BatchIo, 'output'>,
  names: readonly string[],
  attributes: Attributes,
  options: DryRunOptions,
): Promise<void> {
  await output.list(dryRunRequests(names, attributes, options), dryRunView);
}

/** A request that `--dry-run` prints instead of sending, with a curl command that gets the access token when it runs. */
interface DryRunRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly curl: string;
}

export const dryRunView: ListView<DryRunRequest> = {
  columns: [
    { name: 'Method', value: (row) => row.method },
    { name: 'Path', value: (row) => row.path },
    { name: 'Body', value: (row) => stringifyExact(row.body) },
    { name: 'Curl', value: (row) => row.curl },
  ],
  untruncated: true,
};

interface DryRunOptions {
  readonly batchSize: number;
  /** Empty when the profile has none. */
  readonly baseUrl: string;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
  /** Of the user data only size and hash are printed; the curl command reads the file. */
  readonly userData?: UserData | undefined;
}

function* dryRunRequests(
  names: readonly string[],
  attributes: Attributes,
  { batchSize, baseUrl, profileOptions, userData }: DryRunOptions,
): Generator<DryRunRequest> {
  // For a profile without base_url, the curl command uses the shell variable CLOUDCTL_BASE_URL.
  const base = baseUrl === '' ? '"$CLOUDCTL_BASE_URL"' : quoteShellArg(baseUrl);
  const token = ['cloudctl auth token', ...profileOptions].join(' ');
  for (const { method, path, body } of buildRequests(names, attributes, batchSize)) {
    const json = tryParseExactJson(body);
    const value = json.ok ? json.value : undefined;
    const preview = userData === undefined ? {} : { user_data: `[${describeUserData(userData)}]` };
    const curl = [
      ...(userData === undefined ? [] : [`${addUserData(body, userData)} |`]),
      `curl -X ${method} ${base}${path}`,
      `-H "Authorization: Bearer $(${token})"`,
      `-H 'Content-Type: application/json'`,
      userData === undefined ? `--data ${quoteShellArg(body)}` : '--data-binary @-',
    ].join(' ');
    yield { method, path, body: isJsonRecord(value) ? { ...value, ...preview } : value, curl };
  }
}

/**
 * Formats a shell command that prints the request body with the content of the user data file. The arguments of the shell
 * command contain only the name of the file, not its content.
 */
function addUserData(body: string, { file }: UserData): string {
  const source = file === '-' ? '/dev/stdin' : quoteShellArg(file);
  return `jq -n --rawfile user_data ${source} --argjson body ${quoteShellArg(body)} '$body + {user_data: $user_data}'`;
}
