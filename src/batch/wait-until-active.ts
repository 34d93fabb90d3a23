import { type ApiResponse, toApiError } from '../api/api-response.ts';
import { decodeDroplet, publicAddress } from '../api/droplets.ts';
import { formatWaitingTime } from '../cli/duration.ts';
import { CliError } from '../errors.ts';
import { isRecord, type JsonRecord, parseJson, stringField } from '../json.ts';
import type { Clock } from '../platform/host.ts';
import { ownTag } from './batch-id.ts';
import type { BatchState } from './batch-state.ts';
import { scanDropletPages } from './scan-droplets.ts';
import type { SendLane } from './send-lane.ts';
import type { WaitResults } from './wait-results.ts';

export interface WaitUntilActiveOptions {
  readonly lane: SendLane;
  readonly clock: Clock;
  /** Milliseconds between two polls. */
  readonly poll: number;
  /** `--wait-timeout` in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly results: WaitResults;
  /** Called after each poll. @param ended names that are active, or will not be */
  readonly onPoll: (active: number, total: number, ended: readonly string[]) => Promise<void>;
}

/** Consecutive polls that may fail, or that may lack a droplet, before the wait ends. */
const maxMisses = 5;
/** Polls after which the create action of a droplet that is not active is read, one at each poll. */
const pollsUntilActions = 3;

interface WaitingDroplet {
  readonly name: string;
  readonly action: number | undefined;
  misses: number;
}

/**
 * Waits until no droplet of the batch has the status `new`, with one list of droplets per poll. Adds addresses and failures
 * to the results. Throws `timeout` (exit 5) when droplets are not active in time.
 */
export async function waitUntilActive(state: BatchState, options: WaitUntilActiveOptions): Promise<void> {
  const { lane, clock, results } = options;
  const waiting = new Map<number, WaitingDroplet>();
  for (const row of state.rows())
    if (row.status === 'created') waiting.set(row.id, { name: row.name, action: row.action_id, misses: 0 });
  const total = waiting.size;
  let ended: string[] = [];
  const end = (id: number, failure?: string): void => {
    ended.push(waiting.get(id)?.name ?? '');
    waiting.delete(id);
    if (failure !== undefined) results.failures.set(id, failure);
  };
  const deadline = startDeadline(clock, options.timeout);
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  const { names } = state.batch;
  const tag = ownTag(state.batch);
  // A server that ignores the filter returns more droplets, which does no harm.
  const filter =
    tag !== undefined ? `?tag_name=${encodeURIComponent(tag)}` : names.length === 1 ? `?name=${names[0]}` : '';
  const applyDroplet = (id: number, raw: JsonRecord): void => {
    const one = waiting.get(id);
    if (one === undefined) return;
    one.misses = 0;
    if (stringField(raw, 'status') === 'new') return;
    const address = publicAddress(raw);
    if (address !== undefined) results.addresses.set(id, address);
    end(id);
  };
  const poll = async (number: number): Promise<void> => {
    const listed = new Set<number>();
    for await (const { droplets } of scanDropletPages(lane, `/v2/droplets${filter}`, signal)) {
      for (const { id, raw } of droplets) {
        if (waiting.has(id)) listed.add(id);
        applyDroplet(id, raw);
      }
    }
    for (const [id, one] of waiting) {
      if (listed.has(id)) continue;
      one.misses += 1;
      if (one.misses < maxMisses) continue;
      // A list can lag; the droplet itself decides.
      const raw = await readItem(lane, `/v2/droplets/${id}`, 'droplet', signal);
      if (raw !== undefined) applyDroplet(id, raw);
      else if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
      else end(id, `droplet ${id} was deleted`);
    }
    // One at each poll: the order changes, so that every droplet has its turn.
    const [next] = waiting;
    if (next === undefined || number < pollsUntilActions) return;
    const [id, one] = next;
    waiting.delete(id);
    waiting.set(id, one);
    if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
  };
  try {
    for (let number = 1, failures = 0; waiting.size > 0; number++) {
      options.signal.throwIfAborted();
      try {
        await poll(number);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!(error instanceof CliError) || error.exitCode === 4 || failures >= maxMisses) throw error;
      }
      const done = ended;
      ended = [];
      await options.onPoll(total - waiting.size - results.failures.size, total, done);
      if (waiting.size > 0) await clock.sleep(options.poll, signal);
    }
  } catch (error) {
    if (!deadline.signal.aborted || options.signal.aborted) throw error;
    throw notActiveError(
      [...waiting.values()].map(({ name }) => name),
      total,
      options.timeout,
    );
  } finally {
    deadline.close();
  }
}

function startDeadline(clock: Clock, ms: number): { readonly signal: AbortSignal; readonly close: () => void } {
  const [over, closed] = [new AbortController(), new AbortController()];
  clock.sleep(ms, closed.signal).then(
    () => over.abort(),
    () => {},
  );
  return { signal: over.signal, close: () => closed.abort() };
}

async function hasActionFailed(lane: SendLane, action: number | undefined, signal: AbortSignal): Promise<boolean> {
  if (action === undefined) return false;
  const raw = await readItem(lane, `/v2/actions/${action}`, 'action', signal);
  return raw !== undefined && stringField(raw, 'status') === 'errored';
}

function actionFailure(action: number | undefined): string {
  return `create action ${action} has the status errored`;
}

/** One droplet or action; undefined when it does not exist. */
async function readItem(lane: SendLane, path: string, key: 'droplet' | 'action', signal: AbortSignal) {
  let response: ApiResponse;
  do {
    await lane.waitForTurn(signal);
    response = await lane.request({ method: 'GET', path, until: signal });
  } while (response.status === 429);
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw toApiError(response, 'GET', path, lane.loginHints);
  const json = parseJson(response.text());
  const item = json.ok && isRecord(json.value) ? json.value[key] : undefined;
  const isItem = isRecord(item) && (key === 'action' || decodeDroplet(item) !== undefined);
  if (isItem) return item;
  throw new CliError('api_error', `could not parse the response of GET ${path}`, { status: response.status });
}

function notActiveError(names: readonly string[], total: number, timeout: number): CliError {
  const more = names.length > 20 ? ` and ${names.length - 20} more` : '';
  return new CliError(
    'timeout',
    `${names.length} of ${total} droplets are not active after ${formatWaitingTime(timeout)}`,
    {
      detail: `${names.slice(0, 20).join(', ')}${more}`,
      exitCode: 5,
    },
  );
}
