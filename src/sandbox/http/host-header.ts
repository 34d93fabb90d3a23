import type { IncomingMessage } from 'node:http';

/**
 * Whether the request has exactly one Host header and it names a loopback address; this refuses DNS rebinding. Reads the
 * distinct headers, because Node silently keeps the first of two Host headers.
 */
export function hasLoopbackHost(message: IncomingMessage, port: number): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  const authority = (parseRequestTarget(message).authority ?? host).toLowerCase();
  return more.length === 0 && host !== '' && LOOPBACK_NAMES.some((name) => isAuthority(authority, name, port));
}

/** Path and query as they were sent. A target in absolute form, which a server must accept (RFC 9112 §3.2.2), has an authority as well. */
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
