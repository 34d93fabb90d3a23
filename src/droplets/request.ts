import {
  type ApiResponse,
  isProcessedRedirect,
  notJsonError,
  type RefusedHints,
  readErrorBody,
  toApiError,
} from '../api/api-response.ts';
import type { ApiClient, ApiRequest } from '../api/client.ts';
import { type CreatedDroplets, parseCreatedDroplets } from '../api/droplets.ts';
import { readListTotal } from '../api/list.ts';
import { CliError } from '../base/errors.ts';
import { stringifyExact } from '../base/exact.ts';
import { isJsonRecord, readNumberField, tryParseExactJson } from '../base/json.ts';
import { countOf } from '../base/text.ts';
import { SendError } from '../platform/http-sender.ts';
import type { Attributes, CreatedRow } from './events.ts';
import type { UserData } from './user-data.ts';

/** A creation request of the batch, with the names of its droplets. */
interface CreateRequest extends ApiRequest {
  readonly names: readonly string[];
  readonly body: string;
}

/** Generates the requests of a batch in the order of the names. */
export function buildRequests(
  names: readonly string[],
  attributes: Attributes,
  batchSize: number,
): readonly CreateRequest[] {
  return splitIntoGroups(names, batchSize).map((group) => buildRequest(group, attributes));
}

/** One name is sent as the member `name`, several names as `names` (docs/service.md S8.2). */
export function buildRequest(
  names: readonly string[],
  attributes: Attributes,
  { signal, userData }: { readonly signal?: AbortSignal; readonly userData?: UserData | undefined } = {},
): CreateRequest {
  const named = JSON.stringify(names.length === 1 ? { name: names[0] } : { names });
  const body = `${named.slice(0, -1)},${attributesToJson(attributes, userData).slice(1)}`;
  return { names, method: 'POST', path: '/v2/droplets', body, signal, secrets: userData?.secrets };
}

/** All requests of a batch have the same attributes, so the JSON text of the attributes is cached. */
const attributeJson = new WeakMap<Attributes, string>();

function attributesToJson(attributes: Attributes, userData: UserData | undefined): string {
  const { region, size, image, extra } = attributes;
  const user_data = userData?.text.reveal();
  const text = attributeJson.get(attributes) ?? stringifyExact({ region, size, image, ...extra, user_data }) ?? '';
  attributeJson.set(attributes, text);
  return text;
}

function splitIntoGroups(names: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
}

/** The result of a creation request, with one row for each requested name if the request succeeded. */
export type Outcome =
  | { readonly kind: 'created'; readonly rows: readonly CreatedRow[] }
  /** The server did not process the request because of its rate limit, so the request is sent again. */
  | { readonly kind: 'throttled'; readonly error: string }
  /** The server created no droplet. If `stop` is present, every other request would fail with the same error. */
  | { readonly kind: 'failed'; readonly error: string; readonly stop?: CliError }
  /**
   * It is not known whether the request was processed. `isAnswered`: the complete response has a status of success, so this run
   * must not send the request again. `isDone`: at least a part was processed, so no run may.
   */
  | { readonly kind: 'uncertain'; readonly error: string; readonly isAnswered?: true; readonly isDone?: true };

/** Determines the outcome of a request from its complete response. */
export function outcomeOf(
  request: ApiRequest & { readonly names: readonly string[] },
  response: ApiResponse,
  loginHints: RefusedHints,
): Outcome {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const created = parseCreatedDroplets(response.raw.bytes());
    const rows = created === undefined ? [] : matchRows(request.names, created);
    if (rows.length > 0) return { kind: 'created', rows };
    // A server that changes names or returns an id twice has created droplets nevertheless, so the result is unknown.
    const others = (created?.droplets ?? []).map(({ id, name }) => `${name}: ${id}`);
    if (others.length === 0)
      return { kind: 'uncertain', error: describeUnknownBody(request, response), isAnswered: true };
    const isRepeated = new Set(created?.droplets.map(({ id }) => id)).size < others.length;
    const what = isRepeated
      ? 'several droplets in the response have the same id'
      : 'the droplets in the response have other names';
    return { kind: 'uncertain', error: `${what} (${others.join('; ')})`, isDone: true };
  }
  const error = toApiError(response, request.method, request.path, loginHints);
  if (status === 429) return { kind: 'throttled', error: error.message };
  // A 408 means either that the server did not receive the request completely, or that a proxy stopped waiting for the server.
  if (status >= 500 || status === 408 || isProcessedRedirect(status))
    return { kind: 'uncertain', error: error.message };
  // The detail of a redirect error does not describe the failure of the creation, so the message is used.
  const text = status < 400 ? error.message : (error.detail ?? error.message);
  if (readErrorBody(response).id === 'droplet_limit')
    return { kind: 'failed', error: text, stop: new LimitError(error) };
  return { kind: 'failed', error: text, ...(status === 403 ? { stop: error } : {}) };
}

/** A web page in place of the response comes from a proxy, a login portal or another server. */
function describeUnknownBody({ method, path }: ApiRequest, response: ApiResponse): string {
  const json = tryParseExactJson(response.text());
  if (json.ok || response.raw.size === 0)
    return `could not parse the response of ${method} ${path}: it has no droplet (status ${response.status})`;
  const { message, detail } = notJsonError(response, method, path, json);
  return `${message} (${detail})`;
}

/**
 * Determines the outcome of a request without a complete response. A request that was not sent stops the batch, because the
 * session has ended or the server is unreachable.
 */
export function outcomeOfError(error: CliError): Extract<Outcome, { kind: 'uncertain' | 'failed' }> {
  const sent = error.cause instanceof SendError && error.cause.sent;
  return sent ? { kind: 'uncertain', error: error.message } : { kind: 'failed', error: error.message, stop: error };
}

/**
 * Creates the rows for the names that the response contains. Droplets in the response are assigned to requested names by their
 * name.
 */
function matchRows(names: readonly string[], { droplets, actionIds }: CreatedDroplets): readonly CreatedRow[] {
  const rows: CreatedRow[] = [];
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

/** The error when the account has reached its droplet limit: status 422 with the id `droplet_limit`. */
export class LimitError extends CliError {
  constructor(
    { code, message, detail, status, requestId }: CliError,
    hint = 'delete droplets, or ask for a higher limit',
  ) {
    super(code, message, { detail, hint, status, requestId });
  }
}

/** Adds the number of droplets that can still be created to the error, if the server provides it. */
export async function describeLimit(
  error: LimitError,
  api: Pick<ApiClient, 'json'>,
  until: AbortSignal,
): Promise<LimitError> {
  try {
    const limit = accountLimit(await api.json({ method: 'GET', path: '/v2/account', until }));
    const page = await api.json({ method: 'GET', path: '/v2/droplets?page=1&per_page=1', until });
    const existing = isJsonRecord(page) ? readListTotal(page) : undefined;
    if (limit === undefined || existing === undefined) return error;
    const fitting = Math.max(0, limit - existing);
    const facts = `the limit is ${limit} and ${countOf(existing, 'droplet exists', 'droplets exist')}`;
    if (fitting === 0) return new LimitError(error, `delete droplets, or ask for a higher limit: ${facts}`);
    return new LimitError(error, `create at most ${fitting} more, or delete droplets: ${facts}`);
  } catch {
    // The droplet limit only adds information to the error. If the limit cannot be read, the error is returned unchanged.
    return error;
  }
}

function accountLimit(json: unknown): number | undefined {
  const account = isJsonRecord(json) && isJsonRecord(json.account) ? json.account : {};
  const limit = readNumberField(account, 'droplet_limit');
  return limit !== undefined && Number.isSafeInteger(limit) && limit >= 0 ? limit : undefined;
}
