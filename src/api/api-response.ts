import { CliError } from '../errors.ts';
import { isRecord, parseJson, stringField } from '../json.ts';
import type { BufferedBody } from '../platform/buffered-body.ts';

/** An answer of the resource API, read to its end. */
export interface ApiResponse {
  readonly status: number;
  /** Without its parameters. */
  readonly contentType: () => string;
  readonly requestId: () => string | undefined;
  /** Seconds to wait, from `retry-after` or else `ratelimit-reset`, with a 429. */
  readonly retryAfter: number | undefined;
  /** The server's own time, in whole seconds but as milliseconds since the epoch. */
  readonly date?: number | undefined;
  /** `ratelimit-remaining` and `ratelimit-reset`, the latter in epoch seconds. */
  readonly limit?: { readonly remaining: number; readonly reset: number } | undefined;
  /** Its body as text; that of an error is without the secrets that were sent. */
  readonly text: () => string;
  /** As it came. */
  readonly raw: BufferedBody;
}

/** `{id, message}` of an error body; clients judge by status, so both may be absent. */
export interface ProblemBody {
  readonly id?: string;
  readonly message?: string;
}

export function readProblemBody(answer: Pick<ApiResponse, 'text'>): ProblemBody {
  const json = parseJson(answer.text());
  if (!json.ok || !isRecord(json.value)) return {};
  const id = stringField(json.value, 'id');
  const message = stringField(json.value, 'message');
  return { ...(id === undefined ? {} : { id }), ...(message === undefined ? {} : { message }) };
}

/**
 * A refused access token: every 401, and a 4xx with `id=not_found` on a collection, which cannot be missing (spec.md §5.7).
 * The answer to HEAD has no body to say so: there a 404 is enough.
 */
export function isTokenRefused(answer: Pick<ApiResponse, 'status' | 'text'>, path: string): boolean {
  if (answer.status === 401) return true;
  if (answer.status < 400 || answer.status >= 500 || !isCollection(path)) return false;
  return answer.text() === '' ? answer.status === 404 : readProblemBody(answer).id === 'not_found';
}

/** A 404 for a single thing, with `id=not_found` or without a body (HEAD): it may be missing, or the token may be unknown. */
export function mayBeTokenRefused(answer: ApiResponse, path: string): boolean {
  if (answer.status !== 404 || isCollection(path)) return false;
  return answer.text() === '' || readProblemBody(answer).id === 'not_found';
}

/** What helps who is refused, as whole hints: which command that is depends on whose token it was, and on the profile. */
export interface LoginHints {
  /** After a token that was refused. */
  readonly login: string;
  /** After a write that the scope does not allow. */
  readonly write: string;
  /** After a reading that is forbidden, though every scope allows it (spec.md §5.4). */
  readonly read: string;
}

/** The error a user should see for an answer that is no success. */
export function toApiError(answer: ApiResponse, method: string, path: string, wayIn: LoginHints): CliError {
  const { status } = answer;
  const requestId = answer.requestId();
  const said = readProblemBody(answer).message;
  const what = `${method} ${path}`;
  const parts = { status, requestId };
  if (status >= 300 && status < 400) {
    return new CliError('api_error', `could not ${what}: the server redirected (status ${status})`, {
      ...parts,
      detail: 'a resource API never redirects, so it was not followed',
      hint: 'check base_url with `cloudctl config list`',
    });
  }
  const isPage = said === undefined && answer.contentType() !== 'application/json';
  // What a limit or a server that is down means does not depend on who answers.
  if (isPage && status >= 400 && status < 500 && status !== 429) return notJsonError(answer, method, path);
  switch (status) {
    case 401:
      return new CliError('token_refused', 'the access token was refused', {
        ...parts,
        detail: said,
        hint: wayIn.login,
      });
    case 403:
      return new CliError('scope_too_small', forbiddenMessage(method, what), {
        ...parts,
        detail: said,
        hint: isReading(method) ? wayIn.read : wayIn.write,
      });
    case 404:
      return new CliError('not_found', `could not ${what}: not found`, {
        ...parts,
        detail: said,
        hint: listHint(path),
      });
    case 429:
      return new CliError('rate_limited', `could not ${what}: the rate limit is reached`, {
        ...parts,
        detail: said,
        hint: answer.retryAfter === undefined ? 'try again later' : `try again in ${answer.retryAfter} s`,
      });
    default:
      return new CliError('api_error', `could not ${what}: the server answered ${status}`, {
        ...parts,
        detail: isPage && answer.raw.size > 0 ? describeNonJson(answer) : said,
        hint: status < 500 ? undefined : retryHint(requestId),
      });
  }
}

/** Every scope allows reading (spec.md §5.4), so who may not read lacks something else. */
function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function forbiddenMessage(method: string, what: string): string {
  return isReading(method) ? `could not ${what}: it is forbidden` : `the session's scope does not allow ${what}`;
}

function listHint(path: string): string | undefined {
  const kind = /^\/v2\/(actions|droplets)\//.exec(path)?.[1];
  return kind === undefined ? undefined : `see what is there: \`cloudctl ${kind} list\``;
}

function retryHint(requestId: string | undefined): string {
  return requestId === undefined
    ? 'try again later'
    : `try again; if it fails again, give the provider the request id ${requestId}`;
}

/** An answer that is not JSON where JSON is promised: a proxy's or a portal's page, most likely. */
export function notJsonError(answer: ApiResponse, method: string, path: string): CliError {
  const requestId = answer.requestId();
  return new CliError('api_error', `could not ${method} ${path}: the answer is not JSON`, {
    detail: describeNonJson(answer),
    hint: isDeclaredJson(answer) ? retryHint(requestId) : 'check base_url with `cloudctl config list`',
    status: answer.status,
    requestId,
  });
}

function describeNonJson(answer: ApiResponse): string {
  const type = answer.contentType() || 'no content type';
  const seen = `status ${answer.status}, ${type}`;
  if (isDeclaredJson(answer))
    return `${seen}, ${answer.raw.size} bytes: damaged or cut short by the server, most likely`;
  return `${seen}: the page of a proxy or a portal, most likely`;
}

function isDeclaredJson(answer: ApiResponse): boolean {
  return answer.contentType() === 'application/json';
}

function isCollection(path: string): boolean {
  return /^\/v2\/(actions|droplets)(\?|$)/.test(path);
}
