import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { equalInConstantTime } from '../../platform/constant-time.ts';

/** An HTTP request as it was received, before any normalization. */
export interface HelperRequest {
  readonly peerAddress: string | undefined;
  /** Whether another user than the one of this process (and not root) sent the request; undefined if the system does not show it. */
  readonly isOtherUser?: boolean | undefined;
  readonly method: string;
  /** The request target as it is in the request line. */
  readonly rawTarget: string;
  /** Header names and values in turn (name, value, name, value, …), as received, including repeated headers. */
  readonly rawHeaders: readonly string[];
  /** The request body; present after it was read. */
  readonly body?: RequestBody;
}

/** The body of a request; a body over the size limit is discarded. */
export type RequestBody = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'too_long' };

/** The maximum length of a POST body, in bytes; an authorization response is much shorter. */
export const maxBodyBytes = 16 * 1024;

/** The values that a request to the helper must have; they are known once the port is bound. */
export interface Expectations<Accepted> {
  /** Whether a peer may send requests: only this machine, or the networks that the user allowed. */
  readonly isAllowedPeer: (address: string | undefined) => boolean;
  /** Host and port of the callback URL, as in the Host header. */
  readonly host: string;
  readonly flow: 'code' | 'implicit';
  readonly paths: Readonly<Record<'callback' | 'relay' | 'start' | 'short' | 'done', string>>;
  /** The raw query of the callback URL itself; usually empty. */
  readonly callbackQuery: string;
  /** The origin of the authorization server. An Origin header may name only this origin or that of the helper. */
  readonly authorizationOrigin: string;
  /** The nonce that the relay request must contain, which proves that the request comes from the bridge page. */
  readonly nonce: string;
  readonly validate: ResponseValidator<Accepted>;
}

/** Validates the parameters of a request; returns undefined when they are not an authorization response. */
export type ResponseValidator<Accepted> = (
  parameters: CallbackParameters,
  place: ParameterLocation,
) => Accepted | undefined;

/** The parameters of an authorization response by name, without repeated names. */
export type CallbackParameters = ReadonlyMap<string, string>;

/** The place of the parameters in the URL: after `?` or after `#`. */
export type ParameterLocation = 'query' | 'fragment';

/** The phases of a login: armed (waits for a response), taken (a response was accepted), closed. */
export type Phase =
  | { readonly kind: 'armed'; readonly started: boolean }
  /** `response` is the raw query or fragment of the accepted response, if it came from a browser tab. */
  | { readonly kind: 'taken'; readonly response?: string | undefined }
  | { readonly kind: 'closed' };

/** The decision about a request. Of the decisions, only `taken`, `start` and `start_again` change the phase of the login. */
export type Decision<Accepted> =
  | Refusal
  /** The server must read the request body, up to `maxBodyBytes`, and decide again. */
  | { readonly kind: 'read_body' }
  | { readonly kind: 'bridge' }
  | { readonly kind: 'start' }
  /** Redirects to the authorization URL, which the terminal shows beside the short URL, as often as it is opened. */
  | { readonly kind: 'short' }
  /** The start URL was opened a second time, possibly by another user who has read it, so the login ends. */
  | { readonly kind: 'start_again' }
  | { readonly kind: 'done' }
  /** The accepted response came again, from a second tab or after a program that follows links: the tab is told the outcome. */
  | { readonly kind: 'again' }
  | {
      readonly kind: 'taken';
      readonly accepted: Accepted;
      readonly place: ParameterLocation;
      readonly response: string;
    };

/** The refusal of a request, which has no effect on the login. */
export type Refusal =
  | { readonly kind: 'refuse'; readonly reason: Exclude<RefusalReason, 'method_not_allowed'> }
  /** `allow` is the method that the Allow header of the response names. */
  | { readonly kind: 'refuse'; readonly reason: 'method_not_allowed'; readonly allow: 'GET' | 'POST' };

export type RefusalReason =
  | 'not_a_response'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'already_finished'
  | 'already_started'
  | 'body_too_large'
  | 'expectation_failed'
  | 'misdirected'
  | 'headers_too_large';

export function refuse(reason: Exclude<RefusalReason, 'method_not_allowed'>): Refusal {
  return { kind: 'refuse', reason };
}

/**
 * Decides what the helper does with one request: a pure function of the expected values, the phase of the login and the
 * request. The checks run in a fixed order, and the first refusal is final; the state parameter is compared only after all
 * of them.
 */
export function decide<Accepted>(
  expected: Expectations<Accepted>,
  phase: Phase,
  request: HelperRequest,
): Decision<Accepted> {
  for (const check of checks) {
    const refusal = check(expected, request);
    if (refusal !== undefined) return refusal;
  }
  switch (pathOf(request)) {
    case expected.paths.callback:
      return decideCallback(expected, phase, request);
    case expected.paths.relay:
      return decideRelay(expected, phase, request);
    case expected.paths.start:
      if (phase.kind !== 'armed') return refuse('already_finished');
      return { kind: phase.started ? 'start_again' : 'start' };
    case expected.paths.short:
      return phase.kind === 'armed' ? { kind: 'short' } : refuse('already_finished');
    default:
      return phase.kind === 'taken' ? { kind: 'done' } : refuse('not_found');
  }
}

/** A check of a request before the state parameter is compared: it can refuse the request but not accept it. */
type Check = (expected: Expectations<unknown>, request: HelperRequest) => Refusal | undefined;

const checks: readonly Check[] = [
  // Whatever address the helper is bound to, only this machine or the allowed networks are answered (RFC 8252 §8.3).
  ({ isAllowedPeer }, { peerAddress }) => (isAllowedPeer(peerAddress) ? undefined : refuse('forbidden')),
  // Another user who reads the start URL from the list of processes would receive the state parameter and could complete the
  // login with a different account. Root is allowed, because root runs port forwarders.
  (_, { isOtherUser }) => (isOtherUser === true ? refuse('forbidden') : undefined),
  (expected, request) => {
    const allow = isRelay(expected, request) ? 'POST' : 'GET';
    return request.method === allow ? undefined : { kind: 'refuse', reason: 'method_not_allowed', allow };
  },
  // The exact authority prevents DNS rebinding.
  (expected, request) => {
    const hosts = headerValues(request, 'host');
    return hosts.length === 1 && hosts[0] === expected.host ? undefined : refuse('misdirected');
  },
  // Origin form with one slash: no absolute form, no `//`, no characters that browsers encode.
  (_, { rawTarget }) => (/^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(rawTarget) ? undefined : refuse('not_a_response')),
  // Byte by byte, because `new URL` would normalize `/x/../callback` and `%2e%2e`.
  ({ paths, flow }, request) => {
    const { relay, ...others } = paths;
    const known = flow === 'implicit' ? [relay, ...Object.values(others)] : Object.values(others);
    return known.includes(pathOf(request)) ? undefined : refuse('not_found');
  },
  // A body whose announced length is too large is not read; another body that is too long is discarded while it is read.
  (_, request) => {
    const isTooLong = headerValues(request, 'content-length').some((length) => !(Number(length) <= maxBodyBytes));
    return isTooLong || request.body?.kind === 'too_long' ? refuse('body_too_large') : undefined;
  },
  // Browsers never send an Expect header.
  (_, request) => (hasHeaderPrefix(request, 'expect') ? refuse('expectation_failed') : undefined),
  // This program and the authorization server could interpret a repeated parameter differently (RFC 6749 §3.1).
  (_, request) => (parseParameters(queryOf(request)) === undefined ? refuse('not_a_response') : undefined),
  // A page is requested only by a top-level navigation, so that an `<img>`, a frame or a no-cors fetch cannot end a login. A
  // browser that fetches a page in advance requests a refused one again when the user opens it.
  (expected, request) => {
    if (isRelay(expected, request)) return undefined;
    if (purposes.some((name) => headerValues(request, name).some((value) => /^(prefetch|preview)\b/i.test(value))))
      return refuse('forbidden');
    const navigates = headerValues(request, 'sec-fetch-mode').every((mode) => mode === 'navigate');
    const isDocument = headerValues(request, 'sec-fetch-dest').every((destination) => destination === 'document');
    return navigates && isDocument ? undefined : refuse('forbidden');
  },
  // A form of another site names its origin.
  (expected, request) => {
    if (pathOf(request) !== expected.paths.callback) return undefined;
    const isKnown = (origin: string) => origin === expected.authorizationOrigin || origin === 'null';
    return headerValues(request, 'origin').every(isKnown) ? undefined : refuse('forbidden');
  },
  // The relay is for the bridge page alone; no HTML form can send its content type.
  (expected, request) => {
    if (!isRelay(expected, request)) return undefined;
    const origins = headerValues(request, 'origin');
    const types = headerValues(request, 'content-type');
    const isOwn = origins.length === 1 && origins[0] === `http://${expected.host}`;
    const isSameSite = headerValues(request, 'sec-fetch-site').every((value) => value === 'same-origin');
    const isJson = types.length === 1 && /^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(types[0] ?? '');
    return isOwn && isSameSite && isJson ? undefined : refuse('forbidden');
  },
];

/** The headers, standard and former, in which browsers say that the user has not opened the page. */
const purposes: readonly string[] = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/** In the implicit flow, a callback request without parameters receives the bridge page. */
function decideCallback<Accepted>(
  expected: Expectations<Accepted>,
  phase: Phase,
  request: HelperRequest,
): Decision<Accepted> {
  const query = queryOf(request);
  if (expected.flow === 'implicit' && isBare(query, expected.callbackQuery)) {
    return phase.kind === 'armed' ? { kind: 'bridge' } : refuse('already_finished');
  }
  if (!isNavigation(request)) return refuse('not_a_response');
  return decideResponse(expected, phase, query, 'query');
}

/** The relay request contains the fragment of the implicit flow and the nonce of the bridge page. */
function decideRelay<Accepted>(
  expected: Expectations<Accepted>,
  phase: Phase,
  request: HelperRequest,
): Decision<Accepted> {
  // The bridge page sends the fragment in the request body, because a query could be written to logs.
  if (queryOf(request) !== '') return refuse('not_a_response');
  if (request.body?.kind !== 'text') return { kind: 'read_body' };
  const json = tryParseJson(request.body.text);
  if (!json.ok || !isJsonRecord(json.value)) return refuse('not_a_response');
  const nonce = readStringField(json.value, 'nonce');
  const fragment = readStringField(json.value, 'fragment');
  if (nonce === undefined || fragment === undefined) return refuse('not_a_response');
  if (!equalInConstantTime(nonce, expected.nonce)) return refuse('forbidden');
  return decideResponse(expected, phase, fragment, 'fragment');
}

/** The first authorization response ends the wait, whatever its result; all later ones change nothing. */
function decideResponse<Accepted>(
  expected: Expectations<Accepted>,
  phase: Phase,
  raw: string,
  place: ParameterLocation,
): Decision<Accepted> {
  const parameters = parseParameters(raw);
  const accepted = parameters && expected.validate(parameters, place);
  if (accepted === undefined) return refuse('not_a_response');
  if (phase.kind === 'armed') return { kind: 'taken', accepted, place, response: raw };
  const taken = phase.kind === 'taken' ? phase.response : undefined;
  const isSame = taken !== undefined && place === 'query' && equalInConstantTime(raw, taken);
  return isSame ? { kind: 'again' } : refuse('already_finished');
}

// Some servers send `iss` in the query and all other parameters in the fragment (RFC 9207 §2); the bridge page adds `iss` to
// the fragment.
function isBare(query: string, own: string): boolean {
  const beside = own !== '' && query.startsWith(`${own}&`) ? query.slice(own.length + 1) : query;
  return query === own || /^iss=[^&]+$/.test(beside);
}

// Every browser sends either all or none of the Sec-Fetch headers, so a request with only some of them must not end a login.
function isNavigation(request: HelperRequest): boolean {
  const isComplete =
    headerValues(request, 'sec-fetch-mode').length > 0 && headerValues(request, 'sec-fetch-dest').length > 0;
  return isComplete || !hasHeaderPrefix(request, 'sec-fetch-');
}

function isRelay(expected: Expectations<unknown>, request: HelperRequest): boolean {
  return expected.flow === 'implicit' && pathOf(request) === expected.paths.relay;
}

/** Decodes a raw query or fragment; returns undefined when a parameter is repeated, which RFC 6749 §3.1 forbids. */
export function parseParameters(raw: string): CallbackParameters | undefined {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(raw)) {
    if (parameters.has(name)) return undefined;
    parameters.set(name, value);
  }
  return parameters;
}

/** All values of a header, in the order in which they were received. */
export function headerValues({ rawHeaders }: HelperRequest, name: string): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** Whether the name of any header starts with `prefix`. */
function hasHeaderPrefix({ rawHeaders }: HelperRequest, prefix: string): boolean {
  return rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase().startsWith(prefix));
}

/** The part of the request target before `?`, neither decoded nor normalized. */
export function pathOf({ rawTarget }: HelperRequest): string {
  return rawTarget.split('?', 1)[0] ?? '';
}

/** The part of the request target after the first `?`; empty without a query. */
function queryOf({ rawTarget }: HelperRequest): string {
  const mark = rawTarget.indexOf('?');
  return mark < 0 ? '' : rawTarget.slice(mark + 1);
}
