import { validateHeaderValue } from 'node:http';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { HttpRequest } from './request.ts';

/** An HTTP response that was not yet written to the socket. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The fault in the delivery of the reply; absent for a complete delivery. */
  readonly deliveryFault?: ReplyFault;
  /** Called when the last byte of the reply was sent. */
  readonly sent?: () => void;
}

/**
 * Every delivery fault closes the connection: without sending a byte, with a TCP reset, in the middle of the body, or after
 * sending the reply byte by byte.
 */
export type ReplyFault =
  | { readonly kind: 'drop' | 'reset' | 'half' }
  | { readonly kind: 'drip'; readonly pauseMs: number };

export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** Throws for a location that no header can contain, so that the request is answered and logged with status 500. */
export function redirectReply(
  status: 302 | 303,
  location: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  validateHeaderValue('location', location);
  return { status, headers: { location, ...headers }, body: '' };
}

export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: '' };
}

/** An HTML template of the package hono/html. HTML templates that contain no promises are strings. */
export type HtmlMarkup = HtmlEscapedString | Promise<HtmlEscapedString>;

export function htmlReply(status: number, markup: HtmlMarkup, headers: Readonly<Record<string, string>>): Reply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body: String(markup) };
}

/**
 * Whether a browser sent the request to learn whether a page of another origin may send a request with a bearer token
 * (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
 */
export function isCorsPreflight(request: HttpRequest): boolean {
  return request.method === 'OPTIONS' && request.header('access-control-request-method').length > 0;
}

export const PREFLIGHT_REPLY: Reply = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
  },
  body: '',
};

/**
 * The headers of a response that pages of every origin may read. Pages send no cookies with such a request, because the
 * response does not allow credentials.
 */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'allow, date, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, www-authenticate, x-request-id',
};
