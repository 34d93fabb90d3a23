import {
  type ApiResponse,
  isRedirectAfterProcessedRequest,
  type RefusedRequestHints,
  readApiErrorBody,
  toApiError,
} from '../../api/api-response.ts';
import type { ApiRequest } from '../../api/client.ts';
import { type CreatedDroplets, parseCreatedDroplets } from '../../api/droplets.ts';
import type { CliError } from '../../errors.ts';
import { HttpSendError } from '../../platform/http-sender.ts';
import type { LedgerCreatedDroplet } from '../ledger/batch-ledger-event.ts';
import { DropletLimitError } from './droplet-limit.ts';

/** The result of a creation request, with one row for each requested name if the request succeeded. */
export type CreationRequestOutcome =
  | { readonly kind: 'created'; readonly rows: readonly LedgerCreatedDroplet[] }
  /** The server did not process the request because of its rate limit, so the request is sent again. */
  | { readonly kind: 'throttled'; readonly error: string }
  /** The server created no droplet. If `stop` is present, every other request would fail with the same error. */
  | { readonly kind: 'failed'; readonly error: string; readonly stop?: CliError }
  /** It is not known whether the request was processed. If `isDone` is true, at least a part was, so it must not be sent again. */
  | { readonly kind: 'uncertain'; readonly error: string; readonly isDone?: true };

/** Determines the outcome of a request from its complete response. */
export function determineCreationRequestOutcome(
  request: ApiRequest & { readonly names: readonly string[] },
  response: ApiResponse,
  loginHints: RefusedRequestHints,
): CreationRequestOutcome {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const created = parseCreatedDroplets(response.raw.bytes());
    const rows = created === undefined ? [] : matchRows(request.names, created);
    if (rows.length > 0) return { kind: 'created', rows };
    // A server that changes names or returns an id twice has created droplets nevertheless, so the result is unknown.
    const others = (created?.droplets ?? []).map(({ id, name }) => `${name}: ${id}`);
    if (others.length === 0) return { kind: 'uncertain', error: 'could not parse the response' };
    return {
      kind: 'uncertain',
      error: `the droplets in the response have other names (${others.join('; ')})`,
      isDone: true,
    };
  }
  const error = toApiError(response, request.method, request.path, loginHints);
  if (status === 429) return { kind: 'throttled', error: error.message };
  // A 408 means either that the server did not receive the request completely, or that a proxy stopped waiting for the server.
  if (status >= 500 || status === 408 || isRedirectAfterProcessedRequest(status))
    return { kind: 'uncertain', error: error.message };
  // The detail of a redirect error does not describe the failure of the creation, so the message is used.
  const text = status < 400 ? error.message : (error.detail ?? error.message);
  if (readApiErrorBody(response).id === 'droplet_limit')
    return { kind: 'failed', error: text, stop: new DropletLimitError(error) };
  return { kind: 'failed', error: text, ...(status === 403 ? { stop: error } : {}) };
}

/**
 * Determines the outcome of a request without a complete response. A request that was not sent stops the batch, because the
 * session has ended or the server is unreachable.
 */
export function determineOutcomeOfFailedRequest(error: CliError): CreationRequestOutcome {
  const sent = error.cause instanceof HttpSendError && error.cause.sent;
  return sent ? { kind: 'uncertain', error: error.message } : { kind: 'failed', error: error.message, stop: error };
}

/**
 * Creates the rows for the names that the response contains. Droplets in the response are assigned to requested names by their
 * name.
 */
function matchRows(
  names: readonly string[],
  { droplets, actionIds }: CreatedDroplets,
): readonly LedgerCreatedDroplet[] {
  const rows: LedgerCreatedDroplet[] = [];
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    // Usually the droplets in the response have the order of the requested names. If the response has two droplets with the
    // same name, the last one is used.
    const isInPlace = droplets.length === names.length && droplets[at]?.name === name;
    const position = isInPlace ? at : droplets.findLastIndex((one) => one.name === name);
    const id = droplets[position]?.id;
    // Actions have no names, so they are assigned by position, if the response has one action for each droplet.
    const action_id = actionIds.length === droplets.length ? actionIds[position] : undefined;
    if (id !== undefined) rows.push({ name, id, action_id });
  }
  // If two names have the same droplet id, neither row is returned, because at least one of them is wrong.
  return rows.filter(({ id }, at) => rows.every((other, position) => position === at || other.id !== id));
}
