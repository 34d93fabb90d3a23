import { type ApiResponse, type LoginHints, readProblemBody, toApiError } from '../api/api-response.ts';
import type { ApiRequest } from '../api/client.ts';
import { type CreatedDroplets, parseCreatedDroplets } from '../api/droplets.ts';
import type { CliError } from '../errors.ts';
import { SendError } from '../platform/http-sender.ts';
import type { CreatedRow } from './ledger-event.ts';

/** What the end of a request says about its names. */
export type RequestOutcome =
  | { readonly kind: 'created'; readonly rows: readonly CreatedRow[] }
  /** Certainly not processed, and to be repeated when the server allows it. */
  | { readonly kind: 'throttled'; readonly error: string }
  /** Certainly not created. With `stop` no other request would fare better. */
  | { readonly kind: 'failed'; readonly error: string; readonly stop?: CliError }
  /** `isDone`: something came of it, so it must not be sent again. */
  | { readonly kind: 'doubt'; readonly error: string; readonly isDone?: true };

/** Of a complete answer. */
export function outcomeOfResponse(
  request: ApiRequest & { readonly names: readonly string[] },
  answer: ApiResponse,
  wayIn: LoginHints,
): RequestOutcome {
  const { status } = answer;
  if (status >= 200 && status < 300) {
    const created = parseCreatedDroplets(answer.raw.bytes());
    const rows = created === undefined ? [] : matchRows(request.names, created);
    if (rows.length > 0) return { kind: 'created', rows };
    // A server that writes names its own way has created them all the same; one that gives an id twice, too.
    const others = (created?.droplets ?? []).map(({ id, name }) => `${name}: ${id}`);
    if (others.length === 0) return { kind: 'doubt', error: 'the answer is not understood' };
    return { kind: 'doubt', error: `the answer does not fit the names (${others.join('; ')})`, isDone: true };
  }
  const refused = toApiError(answer, request.method, request.path, wayIn);
  if (status === 429) return { kind: 'throttled', error: refused.message };
  // A server that says 408 did not see the request whole, or a proxy before it lost patience: who knows which.
  if (status >= 500 || status === 408 || isRedirectToResult(status)) return { kind: 'doubt', error: refused.message };
  // Of a redirect the detail says only what was not done about it.
  const error = status < 400 ? refused.message : (refused.detail ?? refused.message);
  const stops = status === 403 || readProblemBody(answer).id === 'droplet_limit';
  return { kind: 'failed', error, ...(stops ? { stop: refused } : {}) };
}

/** See elsewhere for what came of it; only 307 and 308 say that it is to be made there (RFC 9110 §15.4). */
function isRedirectToResult(status: number): boolean {
  return status >= 300 && status < 400 && status !== 307 && status !== 308;
}

/** Of a request without one. A session that ended or a server that nobody reaches stops the batch; both left nothing behind. */
export function outcomeOfFailure(error: CliError): RequestOutcome {
  const sent = error.cause instanceof SendError && error.cause.sent;
  return sent ? { kind: 'doubt', error: error.message } : { kind: 'failed', error: error.message, stop: error };
}

/** A row for each name the answer tells of; by name, not by place, though the order is kept. */
function matchRows(names: readonly string[], { droplets, actionIds }: CreatedDroplets): readonly CreatedRow[] {
  const rows: CreatedRow[] = [];
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    // The order is that of the names, unless a server does otherwise; of two of a name the last one counts.
    const isInPlace = droplets.length === names.length && droplets[at]?.name === name;
    const place = isInPlace ? at : droplets.findLastIndex((one) => one.name === name);
    const id = droplets[place]?.id;
    // Actions have no names: they belong to the droplets by place, if there is one for each.
    const action_id = actionIds.length === droplets.length ? actionIds[place] : undefined;
    if (id !== undefined) rows.push({ name, id, action_id });
  }
  // An id that two names share is that of one of them at most: which, a lookup tells.
  return rows.filter(({ id }, at) => rows.every((other, place) => place === at || other.id !== id));
}
