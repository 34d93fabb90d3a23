import { type RefusedRequestHints, readApiErrorBody } from '../../api/api-response.ts';
import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { BatchTimeLimits } from '../sending/batch-time-limits.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import {
  type CreationRequestOutcome,
  determineCreationRequestOutcome,
  determineOutcomeOfFailedRequest,
} from '../sending/request-outcome.ts';

/** The result of the deletion of one droplet. */
export type SingleDropletDeletionResult =
  /** `already_gone`: another request deleted the droplet after it was shown. */
  | { readonly status: 'deleted'; readonly already_gone?: true }
  | { readonly status: 'failed' | 'unknown'; readonly error: string };

export interface DropletDeletionDeps {
  readonly lane: RateLimitedSender;
  readonly clock: Clock;
  readonly timings: BatchTimeLimits;
  readonly loginHints: RefusedRequestHints;
  /** Once this signal is aborted, no further request is sent. */
  readonly ending: AbortSignal;
  /** Once this signal is aborted, the program no longer waits for responses. */
  readonly ended: AbortSignal;
  /** Whether an error has stopped the run, so that no further request is sent. */
  readonly isStopped: () => boolean;
}

export interface DropletDeletionOutcome {
  /** The result of the deletion; undefined when no request was sent. */
  readonly result: SingleDropletDeletionResult | undefined;
  /** An error after which every other request would fail, too. */
  readonly stop?: CliError;
}

type DeletionOutcome =
  | Exclude<CreationRequestOutcome, { kind: 'created' }>
  | { readonly kind: 'deleted' }
  | { readonly kind: 'gone' };

const maxSends = 5;

/**
 * Deletes one droplet by its id. A request without a clear result is sent again, which cannot delete another droplet. If the
 * result is still not clear, the droplet is looked up: if it does not exist, it counts as deleted.
 */
export async function deleteDropletById(id: number, deps: DropletDeletionDeps): Promise<DropletDeletionOutcome> {
  const { lane, clock, timings, ending, isStopped } = deps;
  let doubt: string | undefined;
  let refused: string | undefined;
  let stop: CliError | undefined;
  for (let sends = 0; sends < maxSends && !ending.aborted && !isStopped(); ) {
    try {
      if (doubt !== undefined) await clock.sleep(timings.pollInterval * sends, ending);
      await lane.waitForTurn(ending);
    } catch (error) {
      if (ending.aborted) break;
      if (!(error instanceof CliError)) throw error;
      stop = error;
      break;
    }
    const outcome = await sendDeletion(id, deps);
    if (outcome.kind === 'deleted') return { result: { status: 'deleted' } };
    if (outcome.kind === 'gone')
      return { result: { status: 'deleted', ...(doubt === undefined ? { already_gone: true } : {}) } };
    if (outcome.kind === 'throttled') {
      // The server refused the request because of its rate limit: the attempt does not count, and the next request waits.
      refused = outcome.error;
      continue;
    }
    sends += 1;
    if (outcome.kind === 'uncertain') {
      doubt = outcome.error;
      continue;
    }
    refused = outcome.error;
    stop = outcome.stop;
    break;
  }
  const ended = stop === undefined ? {} : { stop };
  if (doubt !== undefined) return { result: await settleDeletion(id, refused ?? doubt, deps), ...ended };
  return { result: refused === undefined ? undefined : { status: 'failed', error: refused }, ...ended };
}

async function sendDeletion(id: number, { lane, loginHints, ended }: DropletDeletionDeps): Promise<DeletionOutcome> {
  const request = { method: 'DELETE', path: `/v2/droplets/${id}`, until: ended };
  try {
    const response = await lane.request(request);
    if (response.status === 204) return { kind: 'deleted' };
    // A 404 without `id=not_found` may come from a proxy, or from a server without this path: the droplet may still exist.
    if (response.status === 404 && readApiErrorBody(response).id === 'not_found') return { kind: 'gone' };
    const outcome = determineCreationRequestOutcome({ ...request, names: [] }, response, loginHints);
    return outcome.kind === 'created' ? { kind: 'uncertain', error: unexpectedResponse } : outcome;
  } catch (error) {
    if (ended.aborted) return { kind: 'uncertain', error: 'no response arrived before the interruption' };
    if (!(error instanceof CliError)) throw error;
    const outcome = determineOutcomeOfFailedRequest(error);
    return outcome.kind === 'created' ? { kind: 'uncertain', error: unexpectedResponse } : outcome;
  }
}

const unexpectedResponse = 'could not parse the response';

/** Looks up a droplet whose deletion was sent without a clear result. */
async function settleDeletion(
  id: number,
  error: string,
  deps: DropletDeletionDeps,
): Promise<SingleDropletDeletionResult> {
  const { lane, ended } = deps;
  const unknown = (reason: string): SingleDropletDeletionResult => ({
    status: 'unknown',
    error: `${error}; ${reason}`,
  });
  try {
    for (;;) {
      await lane.waitForTurn(ended);
      const response = await lane.request({ method: 'GET', path: `/v2/droplets/${id}`, until: ended });
      if (response.status === 429) continue;
      if (response.status === 404 && readApiErrorBody(response).id === 'not_found') return { status: 'deleted' };
      if (response.status === 200) return unknown('the droplet still exists');
      return unknown(`could not look up the droplet: the server responded with ${response.status}`);
    }
  } catch (thrown) {
    if (ended.aborted) return unknown('interrupted');
    if (!(thrown instanceof CliError)) throw thrown;
    return unknown(`could not look up the droplet: ${thrown.message}`);
  }
}
