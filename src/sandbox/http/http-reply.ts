import type { HtmlEscapedString } from 'hono/utils/html';

/** An HTTP response that was not yet written to the socket. */
export interface SandboxHttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The fault in the delivery of the reply; absent for a complete delivery. */
  readonly deliveryFault?: ReplyTransmissionFault;
  /** Called when the last byte of the reply was sent. */
  readonly sent?: () => void;
}

/**
 * Every delivery fault closes the connection: without sending a byte, with a TCP reset, in the middle of the body, or after
 * sending the reply byte by byte.
 */
export type ReplyTransmissionFault =
  | { readonly kind: 'drop' | 'reset' | 'half' }
  | { readonly kind: 'drip'; readonly pauseMs: number };

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): SandboxHttpReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function redirectReply(
  status: 302 | 303,
  location: string,
  headers: Readonly<Record<string, string>> = {},
): SandboxHttpReply {
  return { status, headers: { location, ...headers }, body: '' };
}

export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): SandboxHttpReply {
  return { status, headers, body: '' };
}

/** An HTML template of the package hono/html. HTML templates that contain no promises are strings. */
export type HtmlMarkup = HtmlEscapedString | Promise<HtmlEscapedString>;

export function htmlReply(
  status: number,
  markup: HtmlMarkup,
  headers: Readonly<Record<string, string>>,
): SandboxHttpReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body: String(markup) };
}
