import type { IncomingMessage } from 'node:http';

/** An origin as clients receive it, and all names under which its server accepts requests. */
export interface ServerOrigin {
  /** The origin in every URL that the sandbox hands out. */
  readonly origin: string;
  /** The origin at which this machine reaches the server. */
  readonly localOrigin: string;
  /** The accepted values of the Host header, in lower case. Any other value may come from DNS rebinding. */
  readonly authorities: ReadonlySet<string>;
}

export type HttpScheme = 'http' | 'https';

const DEFAULT_PORTS: Readonly<Record<HttpScheme, number>> = { http: 80, https: 443 };

/** Host and port under which clients on other machines reach the authorization server. */
export interface PublicAddress {
  /** The host in the form that a URL has: in lower case, and an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * Builds the origin of a server that listens on `host`. If the address includes the loopback interface, requests may also
 * use the loopback names as Host, because no other site can own these names.
 */
export function buildOrigin(
  host: string,
  port: number,
  publicHost?: string,
  scheme: HttpScheme = 'http',
): ServerOrigin {
  const isWildcard = WILDCARD_ADDRESSES.includes(host);
  const localHost = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const hosts = [
    ...(isWildcard || isLoopbackListener(host) ? LOOPBACK_NAMES : []),
    formatUrlHost(localHost),
    ...(publicHost === undefined ? [] : [publicHost]),
  ];
  const authorities = hosts.flatMap((name) =>
    port === DEFAULT_PORTS[scheme] ? [name, `${name}:${port}`] : [`${name}:${port}`],
  );
  const localOrigin = formatHttpOrigin(localHost, port, scheme);
  return {
    origin: publicHost === undefined ? localOrigin : formatHttpOrigin(publicHost, port, scheme),
    localOrigin,
    authorities: new Set(authorities),
  };
}

/** Serializes an origin in the form in which clients compare origins: without the default port (RFC 6454 §6.2). */
export function formatHttpOrigin(host: string, port: number, scheme: HttpScheme = 'http'): string {
  return new URL(`${scheme}://${formatUrlHost(host)}:${port}`).origin;
}

/**
 * Parses `HOST:PORT`. Undefined unless the host is written as a browser sends it, so that it can be compared with the Host
 * header, and clients can connect to it.
 */
export function parsePublicAddress(text: string): PublicAddress | undefined {
  const [, written = '', digits = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+):([1-9]\d{0,4})$/i.exec(text) ?? [];
  const host = written.toLowerCase();
  const port = Number(digits);
  if (host === '' || port > 65_535 || !URL.canParse(`http://${host}`)) return undefined;
  const isReachable = host !== '0.0.0.0' && host !== '[::]';
  return isReachable && new URL(`http://${host}`).hostname === host ? { host, port } : undefined;
}

/** Whether only this machine reaches the address: 127.0.0.0/8, ::1, or the name `localhost`. */
export function isLoopbackListener(host: string): boolean {
  return host === '::1' || host === 'localhost' || /^127(\.\d{1,3}){3}$/.test(host);
}

function formatUrlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

const WILDCARD_ADDRESSES: readonly string[] = ['0.0.0.0', '::'];
const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether the request has exactly one Host header with a name of the origin, which prevents DNS rebinding. The function reads
 * the separate headers, because Node uses the first of two Host headers without an error. Headers of proxies, such as
 * X-Forwarded-Host, are not read.
 */
export function hasOwnHost(message: IncomingMessage, { authorities }: ServerOrigin): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  const authority = (splitTarget(message).authority ?? host).toLowerCase();
  return more.length === 0 && host !== '' && authorities.has(authority);
}

/**
 * Returns path and query of the request target without decoding them. A request target in absolute form, which a server must
 * accept (RFC 9112 §3.2.2), also contains host and port.
 */
export function splitTarget({ url = '/' }: IncomingMessage): {
  readonly target: string;
  readonly authority?: string;
} {
  const parts = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url);
  const [, authority, rest = ''] = parts ?? [];
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith('/') ? rest : `/${rest}` };
}
