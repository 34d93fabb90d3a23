import type { HtmlEscapedString } from 'hono/utils/html';

/** An answer before it is written: a fault can still be put between it and the socket. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What a fault does to it on its way; absent, it arrives whole. */
  readonly deliveryFault?: DeliveryFault;
  /** Called when its last byte has left. */
  readonly sent?: () => void;
}

/** The connection ends with each: without a byte, with a reset, in the middle of the body, or after every byte came alone. */
export type DeliveryFault =
  | { readonly kind: 'drop' | 'reset' | 'half' }
  | { readonly kind: 'drip'; readonly pauseMs: number };

export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function redirectReply(
  status: 302 | 303,
  location: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return { status, headers: { location, ...headers }, body: '' };
}

export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers, body: '' };
}

/** A template of hono/html; one without promises in it is a string already. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

export function htmlReply(status: number, markup: Markup, headers: Readonly<Record<string, string>>): HttpReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body: String(markup) };
}
