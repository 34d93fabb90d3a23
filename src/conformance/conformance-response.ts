import { isJsonRecord, type JsonRecord, readStringField, tryParseJson } from '../base/json.ts';
import { ConformanceDifferenceError } from './conformance-difference-error.ts';

/** One request that was sent, and the response to it. Both descriptions are shown when a statement does not hold. */
export interface ConformanceResponse {
  /** Method and path with the parameters; secrets are shown as their placeholders. */
  readonly sent: string;
  /** The HTTP status; 0 when no complete response arrived. */
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
  /** Status, content type, target of a redirect and the beginning of the body, without values of secret members. */
  readonly received: string;
}

export interface RawConformanceResponse extends Pick<ConformanceResponse, 'sent' | 'status' | 'header'> {
  /** The response body; undefined when the body was longer than the limit. */
  readonly body: string | undefined;
  /** The reason why no complete response was received. */
  readonly failure?: string;
}

export function createConformanceResponse(raw: RawConformanceResponse): ConformanceResponse {
  const { sent, status, header, body, failure } = raw;
  const type = header('content-type');
  const location = header('location');
  const parts = [
    failure ?? String(status),
    ...(type === undefined ? [] : [type.split(';')[0]?.trim() ?? '']),
    ...(location === undefined ? [] : [`to ${hideSecretParameters(location)}`]),
    ...(body === undefined ? ['(longer than 1 MiB)'] : [describeBody(body)]),
  ];
  return { sent, status, header, body: body ?? '', received: parts.filter((part) => part !== '').join(' ') };
}

/** The body as a JSON object; undefined for anything else. */
export function readConformanceResponseJson({ body }: ConformanceResponse): JsonRecord | undefined {
  const json = tryParseJson(body);
  return json.ok && isJsonRecord(json.value) ? json.value : undefined;
}

/** The error code of the authorization server or the resource API; undefined if the response has none. */
export function readConformanceErrorCode(response: ConformanceResponse): string | undefined {
  const json = readConformanceResponseJson(response) ?? {};
  return readStringField(json, 'error') ?? readStringField(json, 'id');
}

export function isSuccessfulResponse({ status }: ConformanceResponse): boolean {
  return status >= 200 && status < 300;
}

/** Throws ConformanceDifferenceError unless the condition is true. `expected` says what the statement requires. */
export function requireResponseCondition(
  condition: boolean,
  expected: string,
  response: Pick<ConformanceResponse, 'sent' | 'received'>,
): void {
  if (!condition) throw new ConformanceDifferenceError(expected, response);
}

/** Throws ConformanceDifferenceError unless the response has a success status (2xx). */
export function requireSuccessfulResponse(response: ConformanceResponse, expected: string): void {
  requireResponseCondition(isSuccessfulResponse(response), expected, response);
}

/** Throws ConformanceDifferenceError if the response has a success status (2xx). */
export function requireRefusedRequest(response: ConformanceResponse, expected: string): void {
  requireResponseCondition(!isSuccessfulResponse(response), expected, response);
}

/** Throws ConformanceDifferenceError unless the response is an OAuth error with this code and a description (spec §2, §7). */
export function requireOAuthError(response: ConformanceResponse, code: string): void {
  const json = readConformanceResponseJson(response) ?? {};
  requireResponseCondition(
    !isSuccessfulResponse(response) && readStringField(json, 'error') === code,
    `a JSON body with error=${code}`,
    response,
  );
  requireResponseCondition(
    (readStringField(json, 'error_description') ?? '') !== '',
    `error=${code} with an error_description`,
    response,
  );
}

/** Throws ConformanceDifferenceError unless the response is the not-found error of the resource API (spec §2, §5.7, §7). */
export function requireNotFoundError(response: ConformanceResponse): void {
  const json = readConformanceResponseJson(response) ?? {};
  requireResponseCondition(
    !isSuccessfulResponse(response) && readStringField(json, 'id') === 'not_found',
    'a JSON body with id=not_found',
    response,
  );
  requireResponseCondition((readStringField(json, 'message') ?? '') !== '', 'id=not_found with a message', response);
}

/** Throws ConformanceDifferenceError unless a token is refused, in whatever form; spec §7 defines the form for an unknown token only. */
export function requireRefusalOfToken(response: ConformanceResponse): void {
  const isRefused = response.status >= 400 && response.status < 500;
  requireResponseCondition(isRefused, 'a refusal of the token', response);
}

/** Summarizes a response as `status code`, such as `400 invalid_grant`. */
export function summarizeResponse(response: ConformanceResponse): string {
  if (response.status === 0) return 'no response';
  const code = isSuccessfulResponse(response) ? undefined : readConformanceErrorCode(response);
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
export function extractResponsePlainText({ body }: ConformanceResponse): string {
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
