import type { IncomingMessage } from 'node:http';

/**
 * Whether the request has exactly one Host header with a loopback address, which prevents DNS rebinding. The function reads the
 * separate headers, because Node uses the first of two Host headers without an error.
 */
export function hasLoopbackHostHeader(message: IncomingMessage, port: number): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  const authority = (parseRequestTarget(message).authority ?? host).toLowerCase();
  return more.length === 0 && host !== '' && LOOPBACK_NAMES.some((name) => isAuthority(authority, name, port));
}

/**
 * Returns path and query of the request target without decoding them. A request target in absolute form, which a server must
 * accept (RFC 9112 §3.2.2), also contains host and port.
 */
export function parseRequestTarget({ url = '/' }: IncomingMessage): {
  readonly target: string;
  readonly authority?: string;
} {
  const parts = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
  const [, authority, rest = ''] = parts ?? [];
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith('/') ? rest : `/${rest}` };
}

function isAuthority(host: string, name: string, port: number): boolean {
  return host === `${name}:${port}` || (port === 80 && host === name);
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
