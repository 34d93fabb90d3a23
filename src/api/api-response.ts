import { CliError } from '../base/errors.ts';
import { isJsonRecord, readStringField, tryParseJson } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { formatDuration } from '../base/text.ts';
import type { BufferedBody } from '../platform/http-sender.ts';

/** A complete response of the resource API. */
export interface ApiResponse {
  readonly status: number;
  /** The content type of the response without parameters. */
  readonly contentType: () => string;
  readonly requestId: () => string | undefined;
  /** The origin to which a redirect leads; undefined without a valid `location`. */
  readonly redirectOrigin?: () => string | undefined;
  /** Seconds to wait after a 429, from `retry-after` or `ratelimit-reset`. */
  readonly retryAfter: number | undefined;
  /** The Date header in milliseconds since the epoch; its precision is one second. */
  readonly date?: number | undefined;
  /** `ratelimit-remaining` and `ratelimit-reset`, the latter in epoch seconds. */
  readonly limit?: { readonly remaining: number; readonly reset: number } | undefined;
  /** The body of the response as text. In the text of an error response, the secrets of the request are redacted. */
  readonly text: () => string;
  /** The response body as received, in bytes. */
  readonly raw: BufferedBody;
}

/**
 * `{id, message}` of an error body; the message is sanitized to one printable line. Both `id` and `message` can be absent,
 * because the HTTP status decides which error it is.
 */
interface ApiErrorBody {
  readonly id?: string;
  readonly message?: string;
}

export function readErrorBody(response: Pick<ApiResponse, 'text'>): ApiErrorBody {
  const json = tryParseJson(response.text());
  if (!json.ok || !isJsonRecord(json.value)) return {};
  const id = readStringField(json.value, 'id');
  const message = readStringField(json.value, 'message');
  return {
    ...(id === undefined ? {} : { id }),
    ...(message === undefined ? {} : { message: sanitizeLine(message, 1000) }),
  };
}

/**
 * Whether the server refused the access token: every 401, and a 4xx with `id=not_found` for a collection, which always exists
 * (docs/service.md S7.5). The response to HEAD has no body, so a 404 without `id=not_found` also counts as a refused token.
 */
export function isTokenRefused(response: Pick<ApiResponse, 'status' | 'text'>, path: string): boolean {
  if (response.status === 401) return true;
  if (response.status < 400 || response.status >= 500 || !isCollection(path)) return false;
  return response.text() === '' ? response.status === 404 : readErrorBody(response).id === 'not_found';
}

/**
 * A 404 for one resource, with `id=not_found` or without a body (HEAD), means that the resource does not exist or that the
 * token is unknown.
 */
export function mayHideRefusal(response: ApiResponse, path: string): boolean {
  if (response.status !== 404 || isCollection(path)) return false;
  return response.text() === '' || readErrorBody(response).id === 'not_found';
}

/** Hints for requests that the server refuses. The commands in the hints depend on the profile and on the origin of the token. */
export interface RefusedHints {
  /** The hint for a refused access token. */
  readonly login: string;
  /** The hint for a write request without write scope. */
  readonly write: string;
  /** The hint for a read request that is forbidden, although every scope includes reading (docs/service.md S3.2). */
  readonly read: string;
  /** The hint for a server that cannot be reached. */
  readonly unreachable?: string;
}

/** The error for a response that is not a success. */
export function toApiError(response: ApiResponse, method: string, path: string, wayIn: RefusedHints): CliError {
  const { status } = response;
  const requestId = response.requestId();
  const serverMessage = readErrorBody(response).message;
  const what = `${method} ${path}`;
  const parts = { status, requestId };
  if (status >= 300 && status < 400) {
    const origin = response.redirectOrigin?.();
    const redirect = `a redirect${origin === undefined ? '' : ` to ${origin}`} (${status})`;
    return new CliError('api_error', `could not ${what}: the server responded with ${redirect}`, {
      ...parts,
      detail: 'the redirect was not followed, because a resource API does not redirect',
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const isNotApi = serverMessage === undefined && response.contentType() !== 'application/json';
  // Status 429 or 5xx has the same meaning whether the server or a proxy sends the response.
  if (isNotApi && status >= 400 && status < 500 && status !== 429) return notJsonError(response, method, path);
  switch (status) {
    case 401:
      return new CliError('token_refused', 'the server refused the access token', {
        ...parts,
        detail: serverMessage,
        hint: wayIn.login,
      });
    case 403:
      return new CliError('scope_too_small', forbiddenMessage(method, what), {
        ...parts,
        detail: serverMessage,
        hint: isReading(method) ? wayIn.read : wayIn.write,
      });
    case 404:
      return new CliError('not_found', `could not ${what}: not found`, {
        ...parts,
        detail: serverMessage,
        hint: listHint(path),
      });
    case 429:
      return new CliError('rate_limited', `could not ${what}: the rate limit is reached`, {
        ...parts,
        detail: serverMessage,
        hint:
          response.retryAfter === undefined
            ? 'try again later'
            : `try again in ${formatDuration(response.retryAfter * 1000)}`,
      });
    default:
      return new CliError('api_error', `could not ${what}: the server responded with ${status}`, {
        ...parts,
        detail: isNotApi && response.raw.size > 0 ? describeNonJson(response) : serverMessage,
        hint: status < 500 ? undefined : retryHint(requestId),
      });
  }
}

/**
 * A redirect such as 303 leads to the result of a processed request; 307 and 308 require that the request is sent to another
 * URL (RFC 9110 §15.4).
 */
export function isProcessedRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 307 && status !== 308;
}

/** Every scope includes reading (docs/service.md S3.2), so a larger scope does not allow a read request that is forbidden. */
function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function forbiddenMessage(method: string, what: string): string {
  return isReading(method)
    ? `could not ${what}: access is forbidden`
    : `cannot ${what}: the session has no write scope`;
}

function listHint(path: string): string | undefined {
  if (path.startsWith('/v2/databases/')) return 'list the existing clusters: `cloudctl db list`';
  const kind = /^\/v2\/(actions|droplets)\//.exec(path)?.[1];
  return kind === undefined ? undefined : `list the existing ${kind}: \`cloudctl ${kind} list\``;
}

function retryHint(requestId: string | undefined): string {
  return requestId === undefined
    ? 'try again later'
    : `try again; if it fails again, report the request id ${requestId} to the provider`;
}

/** The error for a response that `tryParseJson` refused: most likely a web page from a proxy. */
export function notJsonError(
  response: ApiResponse,
  method: string,
  path: string,
  { reason, isTooDeep } = { reason: 'is not JSON', isTooDeep: false },
): CliError {
  const requestId = response.requestId();
  const isIncomplete = isDeclaredJson(response) && !isTooDeep;
  return new CliError('api_error', `could not parse the response of ${method} ${path}: it ${reason}`, {
    detail: isTooDeep ? `status ${response.status}, ${response.raw.size} bytes` : describeNonJson(response),
    hint: isIncomplete ? retryHint(requestId) : 'check base_url with `cloudctl config list`',
    status: response.status,
    requestId,
  });
}

function describeNonJson(response: ApiResponse): string {
  const type = response.contentType() || 'no content type';
  const facts = `status ${response.status}, ${type}`;
  if (isDeclaredJson(response)) return `${facts}, ${response.raw.size} bytes, probably incomplete`;
  return `${facts}: probably the page of a proxy or a login portal`;
}

function isDeclaredJson(response: ApiResponse): boolean {
  return response.contentType() === 'application/json';
}

function isCollection(path: string): boolean {
  return /^\/v2\/(actions|droplets)(\?|$)/.test(path);
}
