import { isJsonRecord, type JsonRecord, readStringField, tryParseJson } from '../../src/base/json.ts';
import { type RawResponse, SendError } from './send.ts';

/**
 * Thrown when the behaviour of a server differs from a statement. The report redacts secrets in the texts and sanitizes
 * texts of the server.
 */
export class DifferenceError extends Error {
  override readonly name = 'DifferenceError';
  readonly expected: string;
  readonly sent: string;
  readonly received: string;

  constructor(expected: string, { sent, received }: { readonly sent: string; readonly received: string }) {
    super(expected);
    this.expected = expected;
    this.sent = sent;
    this.received = received;
  }
}

/** Thrown when a statement cannot be tested on this server; the message is the reason. */
export class NotTestableError extends Error {
  override readonly name = 'NotTestableError';
}

/** One request that was sent, and the response to it. Both descriptions are shown when a statement does not hold. */
export interface HttpResponse {
  /** Method and path with the parameters; secrets are shown as their placeholders. */
  readonly sent: string;
  /** The HTTP status; 0 when no complete response arrived. */
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The values of Set-Cookie. */
  readonly cookies: readonly string[];
  readonly body: string;
  /** Status, content type, target of a redirect and the beginning of the body, without values of secret members. */
  readonly received: string;
}

/** Describes a response, or the reason why no complete response arrived. `sent` describes its request. */
export function createResponse(sent: string, raw: RawResponse | SendError): HttpResponse {
  if (raw instanceof SendError)
    return { sent, status: 0, header: () => undefined, cookies: [], body: '', received: raw.message };
  const { status, headers, cookies, body } = raw;
  const { 'content-type': type, location } = headers;
  const parts = [
    String(status),
    ...(type === undefined ? [] : [type.split(';')[0]?.trim() ?? '']),
    ...(location === undefined ? [] : [`to ${hideSecretParameters(location)}`]),
    ...(body === undefined ? ['(longer than 1 MiB)'] : [describeBody(body)]),
  ];
  const received = parts.filter((part) => part !== '').join(' ');
  return { sent, status, header: (name) => headers[name], cookies, body: body ?? '', received };
}

/** The body as a JSON object; undefined for anything else. */
export function jsonOf({ body }: HttpResponse): JsonRecord | undefined {
  const json = tryParseJson(body);
  return json.ok && isJsonRecord(json.value) ? json.value : undefined;
}

/** The error code of the authorization server or the resource API; undefined if the response has none. */
export function errorCodeOf(response: HttpResponse): string | undefined {
  const json = jsonOf(response) ?? {};
  return readStringField(json, 'error') ?? readStringField(json, 'id');
}

export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/** Throws DifferenceError unless the condition is true. `expected` says what the statement requires. */
export function check(condition: boolean, expected: string, response: Pick<HttpResponse, 'sent' | 'received'>): void {
  if (!condition) throw new DifferenceError(expected, response);
}

/** Throws DifferenceError unless the response has a success status (2xx). */
export function requireSuccess(response: HttpResponse, expected: string): void {
  check(isSuccess(response), expected, response);
}

/** Throws DifferenceError if the response has a success status (2xx). */
export function requireRefused(response: HttpResponse, expected: string): void {
  check(!isSuccess(response), expected, response);
}

/** Throws DifferenceError unless the response is an OAuth error with this code and a description (docs/service.md S5.9). */
export function requireOAuthError(response: HttpResponse, code: string): void {
  const json = jsonOf(response) ?? {};
  check(!isSuccess(response) && readStringField(json, 'error') === code, `a JSON body with error=${code}`, response);
  check((readStringField(json, 'error_description') ?? '') !== '', `error=${code} with an error_description`, response);
}

/** Throws DifferenceError unless the response is the not-found error of the resource API (docs/service.md S7.5). */
export function requireNotFound(response: HttpResponse): void {
  const json = jsonOf(response) ?? {};
  check(!isSuccess(response) && readStringField(json, 'id') === 'not_found', 'a JSON body with id=not_found', response);
  check((readStringField(json, 'message') ?? '') !== '', 'id=not_found with a message', response);
}

/** Throws DifferenceError unless a token is refused, in whatever form; docs/service.md S7.5 gives the form for an unknown token only. */
export function requireTokenRefused(response: HttpResponse): void {
  const isRefused = response.status >= 400 && response.status < 500;
  check(isRefused, 'a refusal of the token', response);
}

/** Summarizes a response as `status code`, such as `400 invalid_grant`. */
export function summarize(response: HttpResponse): string {
  if (response.status === 0) return 'no response';
  const code = isSuccess(response) ? undefined : errorCodeOf(response);
  return code === undefined ? String(response.status) : `${response.status} ${code}`;
}

const secretMember = /token|secret|code|password|csrf|state|cookie|session/i;
/** Members whose name matches `secretMember` but whose value is not secret. */
const plainMember = /^(token_type|error|error_description|code_challenge_method)$/;

function describeBody(body: string): string {
  if (body === '') return '';
  const json = tryParseJson(body);
  if (json.ok) return cut(JSON.stringify(hideSecretMembers(json.value, 0)));
  return cut(textOfPage(body));
}

/** The visible text of an HTML page; for any other body, the unchanged body. */
export function textOf({ body }: HttpResponse): string {
  return textOfPage(body);
}

/** The patterns below take quadratic time for a hostile page, so only the beginning of a page is used. */
const maxPageLength = 20_000;
const maxPageTextLength = 3000;

/** Returns the visible text of an HTML page. Tags are removed, because attributes of forms contain tokens. */
function textOfPage(body: string): string {
  return body
    .slice(0, maxPageLength)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxPageTextLength);
}

function hideSecretMembers(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.slice(0, 3).map((item) => hideSecretMembers(item, depth + 1));
  if (!isJsonRecord(value)) return value;
  if (depth > 3) return '…';
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && secretMember.test(name) && !plainMember.test(name)
        ? '[hidden]'
        : hideSecretMembers(member, depth + 1),
    ]),
  );
}

function hideSecretParameters(url: string): string {
  return url
    .slice(0, 2000)
    .replace(/([?&#;])([^=&#]+)=([^&#]*)/g, (whole, mark: string, name: string) =>
      secretMember.test(name) && !plainMember.test(name) && name !== 'scope' ? `${mark}${name}=[hidden]` : whole,
    );
}

function cut(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
