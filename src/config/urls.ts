import { isLoopbackHost } from '../platform/loopback-host.ts';
import { blockedPorts } from './blocked-ports.ts';

/** `reason` ends the sentence "<the setting> is …". It never repeats userinfo or a query. */
export interface RejectedUrl {
  readonly ok: false;
  readonly reason: string;
}

export interface ParsedOrigin {
  readonly ok: true;
  /** Scheme, host and port as the URL parser writes them, without a slash at the end. */
  readonly origin: string;
}

/** auth_url and base_url: https, or http for a loopback host; nothing but scheme, host and port (contract.md §3). */
export function parseOrigin(text: string): ParsedOrigin | RejectedUrl {
  const parts = splitUrl(text);
  if (!parts.ok) return parts;
  const { url, path, query, fragment } = parts;
  if (query !== undefined) return rejectUrl('an address with a query; give the origin alone');
  if (fragment !== undefined) return rejectUrl('an address with a fragment; give the origin alone');
  if (path !== '' && path !== '/') return rejectUrl('an address with a path; give the origin alone');
  if (url.protocol !== 'https:' && !isLoopbackHost(url.hostname)) {
    return rejectUrl('an http address; only a loopback host may go without https');
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return blockedPorts.has(port) ? rejectUrl(blockedPortReason(port)) : { ok: true, origin: url.origin };
}

/** Where the browser comes back to, on this machine. */
export interface ConfiguredCallbackUrl {
  /** As written, since a redirect URI is compared as text (RFC 6749 §3.1.2.3). */
  readonly href: string;
  readonly hostname: string;
  /** 0: any free port. */
  readonly port: number;
  /** As written; never empty. */
  readonly path: string;
  /** As written, with its question mark; empty when there is none (RFC 6749 §3.1.2 lets it be kept). */
  readonly query: string;
}

/** A callback URL: http on a loopback host, with a path a browser sends as it is written (RFC 8252 §7.3). */
export function checkCallbackUrl(
  text: string,
): { readonly ok: true; readonly callback: ConfiguredCallbackUrl } | RejectedUrl {
  const parts = splitUrl(text);
  if (!parts.ok) return parts;
  const { url, authority, path, query, fragment } = parts;
  if (url.protocol !== 'http:')
    return rejectUrl('an https address; the redirect is received over http on this machine');
  if (!isLoopbackHost(url.hostname))
    return rejectUrl('the address of another machine; use 127.0.0.1, [::1] or localhost');
  // The browser sends the host as the parser writes it, and the Host header is compared with the configured text.
  if (authority.replace(/:\d*$/, '') !== url.hostname) return rejectUrl(`an unusual spelling of ${url.hostname}`);
  if (fragment !== undefined) return rejectUrl('an address with a fragment, which a redirect URI cannot have');
  if (path !== '' && path !== url.pathname)
    return rejectUrl(`an address whose path a browser would send as ${url.pathname}`);
  if (query !== undefined && `?${query}` !== url.search && query !== '')
    return rejectUrl('an address whose query a browser would rewrite');
  if ([...url.searchParams.keys()].some((name) => responseParameters.has(name))) {
    return rejectUrl('an address whose query already holds a parameter of the answer');
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
  // The URL parser drops tabs, line ends and outer spaces and turns backslashes around, so they are refused before it.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) return rejectUrl('no URL of visible ASCII characters');
  const raw = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
  if (raw === null) return rejectUrl('no http or https URL');
  const [, authority = '', path = '', query, fragment] = raw;
  if (authority.includes('@')) return rejectUrl('an address with a user name or password in it');
  if (!URL.canParse(text)) return rejectUrl('no URL');
  return { ok: true, url: new URL(text), authority, path, query, fragment };
}

function blockedPortReason(port: number): string {
  return `an address on port ${port}, where browsers do not go`;
}

function rejectUrl(reason: string): RejectedUrl {
  return { ok: false, reason };
}
