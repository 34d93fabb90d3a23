import type { IncomingMessage } from 'node:http';
import type { SandboxServerOriginAndHosts } from './sandbox-server-origin-and-hosts.ts';

/**
 * Whether the request has exactly one Host header with a name of the origin, which prevents DNS rebinding. The function reads
 * the separate headers, because Node uses the first of two Host headers without an error. Headers of proxies, such as
 * X-Forwarded-Host, are not read.
 */
export function hasHostHeaderOfOrigin(message: IncomingMessage, { authorities }: SandboxServerOriginAndHosts): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  const authority = (splitAuthorityFromRequestTarget(message).authority ?? host).toLowerCase();
  return more.length === 0 && host !== '' && authorities.has(authority);
}

/**
 * Returns path and query of the request target without decoding them. A request target in absolute form, which a server must
 * accept (RFC 9112 §3.2.2), also contains host and port.
 */
export function splitAuthorityFromRequestTarget({ url = '/' }: IncomingMessage): {
  readonly target: string;
  readonly authority?: string;
} {
  const parts = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
  const [, authority, rest = ''] = parts ?? [];
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith('/') ? rest : `/${rest}` };
}
