import { isLoopbackHost } from '../platform/loopback-host.ts';

/**
 * `reason` completes the sentence "<setting> is …", for example "a URL with a path". The reason never contains the user name,
 * password or query of the URL.
 */
interface RejectedUrl {
  readonly ok: false;
  readonly reason: string;
}

interface ParsedOrigin {
  readonly ok: true;
  /** Scheme, host and port in normalized form, without a trailing slash. */
  readonly origin: string;
}

/** Parses the settings auth_url and base_url: an https URL, or http for a loopback host, with only scheme, host and port. */
export function parseOrigin(text: string): ParsedOrigin | RejectedUrl {
  const parts = splitUrl(text);
  if (!parts.ok) return parts;
  const { url, path, query, fragment } = parts;
  if (query !== undefined) return rejectUrl('a URL with a query; use the origin only');
  if (fragment !== undefined) return rejectUrl('a URL with a fragment; use the origin only');
  if (path !== '' && path !== '/') return rejectUrl('a URL with a path; use the origin only');
  if (url.protocol !== 'https:' && !isLoopbackHost(url.hostname)) {
    return rejectUrl('an http URL; only a loopback host may use http');
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return blockedPorts.has(port) ? rejectUrl(blockedPortReason(port)) : { ok: true, origin: url.origin };
}

/** A callback URL on this machine, to which the authorization server redirects the browser. */
interface ConfiguredCallbackUrl {
  /** The callback URL as configured, because a redirect URI is compared as text (RFC 6749 §3.1.2.3). */
  readonly href: string;
  readonly hostname: string;
  /** Port 0 means any free port. */
  readonly port: number;
  /** The path of the callback URL as configured; never empty. */
  readonly path: string;
  /**
   * The query as configured, with the question mark; empty if the callback URL has no query. A redirect URI may have a query
   * (RFC 6749 §3.1.2).
   */
  readonly query: string;
}

/** Checks a callback URL: http on a loopback host (RFC 8252 §7.3), with a path that browsers send unchanged. */
export function parseCallbackUrl(
  text: string,
): { readonly ok: true; readonly callback: ConfiguredCallbackUrl } | RejectedUrl {
  const parts = splitUrl(text);
  if (!parts.ok) return parts;
  const { url, authority, path, query, fragment } = parts;
  if (url.protocol !== 'http:') return rejectUrl('an https URL; this machine receives the redirect over http');
  if (!isLoopbackHost(url.hostname)) return rejectUrl('a URL of another machine; use 127.0.0.1, [::1] or localhost');
  // The Host header of a browser contains the normalized host, so a URL with another spelling would never match it.
  if (authority.replace(/:\d*$/, '') !== url.hostname) return rejectUrl(`a non-standard spelling of ${url.hostname}`);
  if (fragment !== undefined) return rejectUrl('a URL with a fragment, which a redirect URI cannot have');
  if (path !== '' && path !== url.pathname) return rejectUrl(`a URL whose path browsers send as ${url.pathname}`);
  if (query !== undefined && `?${query}` !== url.search && query !== '')
    return rejectUrl('a URL whose query browsers rewrite');
  // `searchParams` is read only when there is a query, because it loads a module that the fast path of `auth token` lacks.
  if (query && [...url.searchParams.keys()].some((name) => responseParameters.has(name))) {
    return rejectUrl('a URL whose query contains a parameter of the authorization response');
  }
  const port = url.port === '' ? 80 : Number(url.port);
  if (port !== 0 && blockedPorts.has(port)) return rejectUrl(blockedPortReason(port));
  const callback = {
    href: text,
    hostname: url.hostname,
    port,
    path: path || '/',
    query: query === undefined ? '' : `?${query}`,
  };
  return { ok: true, callback };
}

/** Parameters of an authorization response (RFC 6749 §4.1.2, §4.2.2, RFC 9207 §2). */
const responseParameters: ReadonlySet<string> = new Set([
  'code',
  'state',
  'error',
  'error_description',
  'error_uri',
  'iss',
  'access_token',
  'token_type',
  'expires_in',
  'scope',
]);

interface UrlParts {
  readonly ok: true;
  readonly url: URL;
  readonly authority: string;
  readonly path: string;
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

function splitUrl(text: string): UrlParts | RejectedUrl {
  /**
   * These characters are refused before parsing: the URL parser removes tabs, line breaks and outer spaces and converts
   * backslashes.
   */
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) return rejectUrl('not a URL of visible ASCII characters');
  const raw = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
  if (raw === null) return rejectUrl('not an http or https URL');
  const [, authority = '', path = '', query, fragment] = raw;
  if (authority.includes('@')) return rejectUrl('a URL with a user name or password');
  if (!URL.canParse(text)) return rejectUrl('not a URL');
  return { ok: true, url: new URL(text), authority, path, query, fragment };
}

function blockedPortReason(port: number): string {
  return `a URL on port ${port}, which browsers block`;
}

function rejectUrl(reason: string): RejectedUrl {
  return { ok: false, reason };
}

/** Ports that browsers and fetch refuse to connect to (https://fetch.spec.whatwg.org/#port-blocking). */
export const blockedPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
