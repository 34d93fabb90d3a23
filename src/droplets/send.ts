import { CliError } from '../base/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { CreatedRow, Group } from './events.ts';
import type { Run } from './io.ts';
import type { Ledger } from './ledger.ts';
import { buildRequest, type Outcome, outcomeOf, outcomeOfError } from './request.ts';
import type { UncertainGroup } from './state.ts';
import { forbidResend, latestArrival, resolveUncertain, type UncertainNames } from './uncertain.ts';
import type { UserData } from './user-data.ts';

interface SendOptions {
  /** Called when no name is uncertain any more, before the missing names are sent. */
  readonly prepare?: () => Promise<void>;
  /** The maximum number of names in one request; the service accepts 10. */
  readonly batchSize: number;
  /** The maximum number of requests that are sent at the same time. */
  readonly concurrency: number;
  /** The response time in milliseconds after which a response counts as late. */
  readonly timeout: number;
  readonly userData?: UserData | undefined;
  /** Called when a response is late, and when it is no longer awaited. @param late number of late responses that are awaited */
  readonly onLate?: ((late: number) => void) | undefined;
  /** Called with the names of a group when their result is final in this run; the returned promise is awaited. */
  readonly onSettled: (names: readonly string[]) => Promise<void> | undefined;
}

interface SendResult {
  /** The error that stopped the batch. */
  readonly stop: CliError | undefined;
  /** The time at which names were sent again because lookups found no droplet of their first request. */
  readonly sentAgainAt: number | undefined;
}

/**
 * Creates the droplets that the ledger lists as missing: first it resolves uncertain groups, then it sends the missing names.
 * The state of the ledger contains the result of each name.
 */
export async function sendMissing(run: Run, options: SendOptions): Promise<SendResult> {
  const { ledger, ending, ended, clock } = run;
  const { state } = ledger;
  let stop: CliError | undefined;
  let unexpected: { readonly error: unknown } | undefined;
  let sentAgainAt: number | undefined;
  const late = detectLateResponses(clock, options.timeout, ended);
  const isStopped = (): boolean => stop !== undefined || unexpected !== undefined;
  let awaited = 0;
  const onLate = (change: 1 | -1): void => {
    awaited += change;
    options.onLate?.(awaited);
  };
  const onSentAgain = (): void => {
    sentAgainAt = clock.now();
  };
  const stopWith = (error: unknown): undefined => {
    if (error instanceof CliError) stop ??= error;
    else if (!ending.aborted) unexpected ??= { error };
  };
  // An error in the reporting callback stops the batch, but requests in flight are still awaited.
  const reportFailed = (error: unknown): void => {
    unexpected ??= { error };
  };
  const report = (names: readonly string[]): Promise<void> | undefined => {
    try {
      return options.onSettled(names)?.catch(reportFailed);
    } catch (error) {
      reportFailed(error);
      return undefined;
    }
  };
  const endedAt = latestArrival(state, run);
  const settle = async (group: UncertainGroup): Promise<void> => {
    if (await settleGroup(group, endedAt, run)) await report(group.names);
  };
  const work = async (groups: Iterator<readonly string[]>): Promise<void> => {
    // While a worker sends a group, the results of its previous group are printed. Reports of the same worker never overlap.
    let reporting: Promise<void> | undefined;
    const aborter = createAborter(ended);
    const worker = { ...run, userData: options.userData, late, aborter, isStopped, onSentAgain, onLate };
    while (!isStopped() && !ending.aborted) {
      const { value: names, done } = groups.next();
      if (done === true) break;
      const group = { group: state.nextGroup(), names };
      try {
        const stopped = await createGroup(group, worker);
        stop ??= stopped;
      } catch (error) {
        stopWith(error);
      }
      if (reporting !== undefined) await reporting;
      reporting = report(group.names);
    }
    aborter.close();
    await reporting;
  };
  try {
    // All uncertain groups are resolved at the same time, so that they share lookups, and before any droplet is requested, so
    // that the lists do not change.
    await Promise.all(state.uncertainGroups().map((group) => settle(group).catch(stopWith)));
    if (!isStopped() && !ending.aborted) await options.prepare?.();
    const groups = splitMissing(run, options.batchSize);
    const next = groups.values();
    await Promise.all(Array.from({ length: Math.min(options.concurrency, groups.length) }, () => work(next)));
  } finally {
    late.close();
  }
  try {
    ledger.flush();
  } catch (error) {
    stopWith(error);
  }
  if (unexpected !== undefined) throw unexpected.error;
  return { stop, sentAgainAt };
}

/** One of the workers that send groups at the same time. */
interface Worker extends Run {
  readonly userData: UserData | undefined;
  readonly late: LateResponses;
  /** Aborts the request of this worker. */
  readonly aborter: Aborter;
  /** Whether an error has stopped the batch: no further request is sent, but names that were sent are still looked up. */
  readonly isStopped: () => boolean;
  readonly onSentAgain: () => void;
  readonly onLate: (change: 1 | -1) => void;
}

/**
 * Creates the droplets of a group of names. Resolves when the result of every name is recorded or the run has ended; the value
 * is the error that stops the batch, if any.
 */
async function createGroup(group: Group, worker: Worker): Promise<CliError | undefined> {
  const { clock, ledger, lane, ending, refused, aborter, isStopped } = worker;
  for (let sends = 1; ; sends++) {
    // While a group waits for the rate limit, it is not sent, so the ledger has no event of the group yet.
    const wait = lane.waitForTurn(ending);
    if (wait !== undefined) await wait;
    await ledger.commit({ event: 'sending', server_date: lane.serverTime(), ...group });
    const response = sendGroup(group, worker);
    let outcome = await worker.late.withinLimit(response);
    let { names } = group;
    if (outcome === undefined) {
      const open = { ...uncertainNamesOf(group, sends, clock.now()), response, closedAt: undefined };
      // After `resolveUncertain`, the response is not needed any more, so the request is aborted.
      worker.onLate(1);
      const resolution = await resolveUncertain(open, worker).finally(() => {
        worker.onLate(-1);
        aborter.abort();
      });
      if (resolution.kind === 'over') return undefined;
      if (resolution.kind === 'answered') ({ outcome, names } = resolution);
    }
    if (outcome?.kind === 'failed') {
      recordFailed(group, outcome.error, ledger, outcome.stop === undefined);
      if (outcome.stop === undefined) for (const name of group.names) refused.add(name);
      return outcome.stop;
    }
    if (outcome?.kind === 'created' || outcome?.kind === 'uncertain') {
      const left = outcome.kind === 'created' ? recordCreated(group, outcome.rows, names, ledger) : names;
      if (left.length === 0) return undefined;
      const error = outcome.kind === 'uncertain' ? outcome.error : 'the response does not contain the droplet';
      if (outcome.kind === 'uncertain') forbidResend(group, outcome, ledger);
      const isAnswered = outcome.kind === 'uncertain' ? outcome.isAnswered : true;
      if (isAnswered === true) for (const name of left) worker.answered.add(name);
      const closed = { ...uncertainNamesOf(group, sends, clock.now()), names: left, error, isAnswered };
      if ((await resolveUncertain(closed, worker)).kind === 'over') return undefined;
      outcome = undefined;
    }
    // No droplet exists: the server refused the request because of its rate limit, or lookups found none. The names are sent
    // again unless the batch has stopped.
    if (outcome !== undefined || isStopped()) recordFailed(group, outcome?.error ?? notFoundText, ledger);
    // A stopped batch may send the names again in its next try.
    if (outcome === undefined) worker.onSentAgain();
    else sends -= 1;
    if (isStopped() || ending.aborted) return undefined;
  }
}

/**
 * Looks up the names of a request that an earlier process sent. Resolves with true when the result is recorded, and with false
 * when no droplet exists. @param endedAt time in milliseconds after which the earlier process and its kernel certainly no
 * longer send the request
 */
async function settleGroup(
  { group, names, error = noResponse }: UncertainGroup,
  endedAt: number,
  run: Run,
): Promise<boolean> {
  const isAnswered: true | undefined = names.some((name) => run.answered.has(name)) || undefined;
  const sent = { ...uncertainNamesOf({ group, names }, 1, run.clock.now()), closedAt: endedAt, error, isAnswered };
  if ((await resolveUncertain(sent, run)).kind === 'over') return true;
  recordFailed({ group, names }, notFoundText, run.ledger);
  return false;
}

const noResponse = 'an earlier run sent the request and ended before the response arrived';
const notFoundText = 'lookups found no droplet with this name';

/** Sends the creation request of a group of names. The caller must record the `sending` event of the group before. */
function sendGroup({ names }: Group, { lane, ledger, aborter, userData }: Worker): Promise<Outcome> {
  const request = buildRequest(names, ledger.state.batch.attributes, { signal: aborter.signal(), userData });
  return lane.request(request).then(
    (got) => outcomeOf(request, got, lane.loginHints),
    (error: unknown) => {
      if (error instanceof CliError) return outcomeOfError(error);
      throw error;
    },
  );
}

/** Records the created droplets; returns the names that the response does not contain. */
function recordCreated(
  { group }: Group,
  rows: readonly CreatedRow[],
  names: readonly string[],
  ledger: Ledger,
): readonly string[] {
  ledger.record({ event: 'created', group, rows });
  const isAll = rows.length === names.length && rows.every(({ name }, at) => name === names[at]);
  return isAll ? [] : names.filter((name) => !rows.some((row) => row.name === name));
}

function recordFailed({ group, names }: Group, error: string, ledger: Ledger, isRefused = false): void {
  ledger.record({ event: 'failed', group, names, error, ...(isRefused ? { refused: true } : {}) });
}

function uncertainNamesOf({ group, names }: Group, sends: number, now: number): UncertainNames {
  const error = 'no response arrived in time';
  return { group, names, uncertainSince: now, closedAt: now, response: undefined, error, sends };
}

/** The missing names in groups of at most `size`, in order. */
function splitMissing({ ledger, refused }: Run, size: number): readonly (readonly string[])[] {
  const missing = ledger.state.missing().filter((name) => !refused.has(name));
  return Array.from({ length: Math.ceil(missing.length / size) }, (_, at) => missing.slice(at * size, (at + 1) * size));
}

/**
 * Aborts the current request of one worker. A worker has only one request at a time, so one AbortController serves many
 * requests: creating a controller takes as long as a small request.
 */
interface Aborter {
  /** Returns the signal for the next request of the worker. */
  readonly signal: () => AbortSignal;
  /** Aborts the worker's request that is in flight. */
  readonly abort: () => void;
  /** Removes the abort listener from the signal `ended`. */
  readonly close: () => void;
}

/** @param ended aborts the current request and every later one */
function createAborter(ended: AbortSignal): Aborter {
  let current = new AbortController();
  const abort = (): void => current.abort();
  if (ended.aborted) abort();
  ended.addEventListener('abort', abort);
  return {
    signal() {
      if (current.signal.aborted && !ended.aborted) current = new AbortController();
      return current.signal;
    },
    abort,
    close: () => ended.removeEventListener('abort', abort),
  };
}

/** Detects late responses with one timer for all requests in flight, because all requests have the same time limit. */
export interface LateResponses {
  /** Returns the response to a request that is sent now; undefined when it is late or the run no longer waits for it. */
  withinLimit<T>(response: Promise<T>): Promise<T | undefined>;
  close(): void;
}

interface PendingResponse {
  readonly due: number;
  readonly resolve: (late: undefined) => void;
}

/** @param limit milliseconds after which a response is late @param ended aborted when the run no longer waits for responses */
export function detectLateResponses(clock: Clock, limit: number, ended: AbortSignal): LateResponses {
  // Pending responses in the order of their deadlines.
  const pending = new Set<PendingResponse>();
  const closing = new AbortController();
  let isWatching = false;

  const watch = async (): Promise<void> => {
    isWatching = true;
    for (let [first] = pending; first !== undefined && !closing.signal.aborted; [first] = pending) {
      await clock.sleep(Math.max(0, first.due - clock.now()), closing.signal).catch(() => {});
      const now = clock.now();
      for (const entry of pending) {
        if (entry.due > now) break;
        pending.delete(entry);
        entry.resolve(undefined);
      }
    }
    isWatching = false;
  };
  const end = (): void => {
    for (const { resolve } of pending) resolve(undefined);
    pending.clear();
  };
  ended.addEventListener('abort', end);
  return {
    withinLimit<T>(response: Promise<T>) {
      return new Promise<T | undefined>((resolve, reject) => {
        const entry: PendingResponse = { due: clock.now() + limit, resolve };
        if (ended.aborted) resolve(undefined);
        else pending.add(entry);
        if (!isWatching) void watch();
        const done = (): void => void pending.delete(entry);
        response.then(
          (value) => {
            done();
            resolve(value);
          },
          (error: unknown) => {
            done();
            reject(error);
          },
        );
      });
    },
    close() {
      ended.removeEventListener('abort', end);
      closing.abort();
    },
  };
}
