import { readPublicDropletAddress } from '../../api/droplets.ts';
import { formatWaitingTime } from '../../cli/duration.ts';
import { CliError } from '../../errors.ts';
import { type JsonRecord, readStringField } from '../../json.ts';
import type { Clock } from '../../platform/host.ts';
import { getExclusiveBatchTag } from '../ledger/batch-id.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import type { BatchTimeLimits } from '../sending/batch-time-limits.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import { limitRequestRateOfSender } from '../sending/request-rate-limit.ts';
import { createBatchDropletReader, fetchDropletOrAction } from './batch-droplet-reader.ts';
import type { DropletWaitResults } from './wait-results.ts';

export interface WaitUntilDropletsActiveOptions {
  readonly lane: RateLimitedSender;
  readonly clock: Clock;
  readonly timings: Pick<BatchTimeLimits, 'firstPoll' | 'pollInterval' | 'pollWindow'>;
  /** `--wait-timeout` in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly results: DropletWaitResults;
  /** Called after each poll for the state of the droplets. @param ended names of droplets that are active or cannot become active */
  readonly onPoll: (active: number, total: number, ended: readonly string[]) => Promise<void>;
}

/**
 * The number of requests per minute that a wait sends at most, however many droplets it waits for: a tenth of the limit of the
 * public API.
 */
const requestsPerWindow = 25;
/** The maximum number of droplets that one poll reads by id because the lists did not contain them. */
const maxConfirmations = 25;
/** The number of consecutive polls that may fail, or may lack a droplet, before the wait ends. */
const maxMisses = 5;
/** After this number of polls, each further poll also reads one create action of a droplet that is not active yet. */
const pollsUntilActions = 3;

interface WaitingDroplet {
  readonly name: string;
  readonly action: number | undefined;
  misses: number;
}

/**
 * Waits until no droplet of the batch has the status `new`. The more requests a poll needs, the longer is the interval before
 * the next one. Adds IP addresses and failures to `results`. Throws `timeout` (exit code 5) when droplets are not active within
 * the time limit.
 */
export async function waitUntilDropletsActive(
  state: BatchLedgerState,
  options: WaitUntilDropletsActiveOptions,
): Promise<void> {
  const { clock, results, timings } = options;
  const budget = { requests: requestsPerWindow, window: timings.pollWindow };
  let requests = 0;
  const lane = limitRequestRateOfSender(
    countRequests(options.lane, () => requests++),
    clock,
    budget,
  );
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
  const poller = createBatchDropletReader(lane, getExclusiveBatchTag(state.batch));
  const applyDroplet = (id: number, raw: JsonRecord): void => {
    const one = waiting.get(id);
    if (one === undefined) return;
    one.misses = 0;
    if (readStringField(raw, 'status') === 'new') return;
    const address = readPublicDropletAddress(raw);
    if (address !== undefined) results.addresses.set(id, address);
    end(id);
  };
  const poll = async (number: number): Promise<void> => {
    let confirmations = 0;
    for (const id of await poller.poll([...waiting.keys()], applyDroplet, signal)) {
      const one = waiting.get(id);
      if (one === undefined) continue;
      one.misses += 1;
      if (one.misses < maxMisses || confirmations === maxConfirmations) continue;
      confirmations += 1;
      // A list can be outdated, so the droplet is read by its id.
      const raw = await fetchDropletOrAction(lane, `/v2/droplets/${id}`, 'droplet', signal);
      if (raw !== undefined) applyDroplet(id, raw);
      else if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
      else end(id, `droplet ${id} was deleted`);
    }
    /**
     * Each poll reads one create action. The droplet is moved to the end of the queue, so that the next poll reads the
     * action of another droplet.
     */
    const [next] = waiting;
    if (next === undefined || number < pollsUntilActions) return;
    const [id, one] = next;
    waiting.delete(id);
    waiting.set(id, one);
    if (await hasActionFailed(lane, one.action, signal)) end(id, actionFailure(one.action));
  };
  try {
    if (waiting.size > 0) await clock.sleep(timings.firstPoll, signal);
    for (let number = 1, failures = 0; waiting.size > 0; number++) {
      options.signal.throwIfAborted();
      const [startedAt, sentBefore] = [clock.now(), requests];
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
      const share = ((requests - sentBefore) * timings.pollWindow) / requestsPerWindow;
      const pause = Math.max(timings.pollInterval, share - (clock.now() - startedAt));
      if (waiting.size > 0) await clock.sleep(pause, signal);
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

function countRequests(lane: RateLimitedSender, onRequest: () => void): RateLimitedSender {
  return {
    ...lane,
    request: (request) => {
      onRequest();
      return lane.request(request);
    },
  };
}

function startDeadline(clock: Clock, ms: number): { readonly signal: AbortSignal; readonly close: () => void } {
  const [over, closed] = [new AbortController(), new AbortController()];
  clock.sleep(ms, closed.signal).then(
    () => over.abort(),
    () => {},
  );
  return { signal: over.signal, close: () => closed.abort() };
}

async function hasActionFailed(
  lane: RateLimitedSender,
  action: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (action === undefined) return false;
  const raw = await fetchDropletOrAction(lane, `/v2/actions/${action}`, 'action', signal);
  return raw !== undefined && readStringField(raw, 'status') === 'errored';
}

function actionFailure(action: number | undefined): string {
  return `create action ${action} has the status errored`;
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
