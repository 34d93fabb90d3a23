import type { IncomingMessage } from 'node:http';

/**
 * Whether there is exactly one Host header and it names a loopback address: a name that was rebound to this machine does not.
 * Reads the distinct headers, because node keeps the first of two Host headers and says nothing.
 */
export function hasLoopbackHost(message: IncomingMessage, port: number): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  const meant = (parseRequestTarget(message).authority ?? host).toLowerCase();
  return more.length === 0 && host !== '' && LOOPBACK_NAMES.some((name) => isAuthority(meant, name, port));
}

/** Path and query as they came; of a target in absolute form, which a server must take as well (RFC 9112 §3.2.2), the authority too. */
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
