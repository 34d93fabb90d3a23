import { BlockList, isIP } from 'node:net';
import { CliError } from '../base/errors.ts';
import type { ProcessEnvironment } from './host.ts';
import { isLoopbackHost } from './loopback-host.ts';

export interface HttpProxy {
  /** The name of the environment variable, as it is set. */
  readonly variable: string;
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of the Proxy-Authorization header, which is never printed. */
  readonly authorization: string | undefined;
  /** Scheme, host and port of the proxy without credentials, for messages. */
  readonly displayUrl: string;
}

/** The proxy for a URL from HTTPS_PROXY, HTTP_PROXY and NO_PROXY; lower-case names take precedence, as in curl. */
export function proxyFor(url: URL, env: ProcessEnvironment): HttpProxy | undefined {
  if (isLoopbackHost(url.hostname)) return undefined;
  const secure = url.protocol === 'https:';
  const [variable, value] = secure
    ? lowerOrUpper(env, 'https_proxy', 'HTTPS_PROXY')
    : lowerOrUpper(env, 'http_proxy', 'HTTP_PROXY');
  if (!value) return undefined;
  const [, exceptions] = lowerOrUpper(env, 'no_proxy', 'NO_PROXY');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (exceptions && isProxyExcluded(unbracketed(url.hostname), port, exceptions)) return undefined;
  return parseProxy(variable, value);
}

function lowerOrUpper(env: ProcessEnvironment, lower: string, upper: string): readonly [string, string | undefined] {
  return env[lower] === undefined ? [upper, env[upper]] : [lower, env[lower]];
}

/**
 * The URL parser is given the host and the port alone: in `http://user:p@ss#word@proxy` it would read a part of the password as
 * the host, which is printed. So no error contains any part of the value.
 */
function parseProxy(variable: string, value: string): HttpProxy {
  const { scheme = 'http', rest = '' } =
    /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<rest>.*)$/is.exec(value.trim())?.groups ?? {};
  const secure = scheme.toLowerCase() === 'https';
  if (!secure && scheme.toLowerCase() !== 'http')
    throw new CliError('config_invalid', `${variable} has another protocol than http and https`, {
      detail: 'SOCKS proxies are not supported',
      hint: `set ${variable} to an http:// or https:// proxy`,
    });
  const at = rest.lastIndexOf('@');
  const credentials = at === -1 ? undefined : rest.slice(0, at);
  if (credentials !== undefined && /[\s/?#@]/.test(credentials))
    throw new CliError('config_invalid', `${variable} has credentials that are not percent-encoded`, {
      detail: 'the value is not shown, because it contains credentials',
      hint: `${percentEncode} in the user name and the password`,
    });
  const [, authority = ''] = /^([^\s/?#\\]+)(?:\/[^\s?#]*)?$/.exec(rest.slice(at + 1)) ?? [];
  if (!URL.canParse(`${secure ? 'https' : 'http'}://${authority}`))
    throw new CliError('config_invalid', `${variable} is not the URL of a proxy`, {
      detail: 'the value is not shown, because it may contain credentials',
      hint: `set ${variable} to http://HOST:PORT or http://USER:PASSWORD@HOST:PORT; ${percentEncode}`,
    });
  const url = new URL(`${secure ? 'https' : 'http'}://${authority}`);
  return {
    variable,
    secure,
    hostname: unbracketed(url.hostname),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authorization: credentials === undefined || /^:?$/.test(credentials) ? undefined : basicAuthorization(credentials),
    displayUrl: url.origin,
  };
}

/** The characters that are not themselves in the credentials of a proxy URL. */
export const percentEncode = 'percent-encode @ as %40, # as %23, / as %2F, ? as %3F, % as %25 and a space as %20';

/** RFC 7617. The credentials may be in any character set, so the percent-encoded bytes are not decoded as UTF-8. */
function basicAuthorization(credentials: string): string {
  const pair = credentials.includes(':') ? credentials : `${credentials}:`;
  const parts = pair.split(/%([0-9a-f]{2})/i).map((part, index) => Buffer.from(part, index % 2 === 1 ? 'hex' : 'utf8'));
  return `Basic ${Buffer.concat(parts).toString('base64')}`;
}

/**
 * Entries of NO_PROXY are separated by commas or spaces; an entry is `*`, a domain (which includes its subdomains), an IP
 * address or a CIDR range, each with an optional port.
 */
function isProxyExcluded(hostname: string, port: number, exceptions: string): boolean {
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const { host, only } = withPort(entry);
      if (host === '' || (only !== undefined && only !== port)) return false;
      if (host === '*') return true;
      if (isIP(hostname) !== 0) return isAddressIn(hostname, host);
      const domain = host.replace(/^\*?\./, '');
      return hostname === domain || hostname.endsWith(`.${domain}`);
    });
}

function withPort(entry: string): { host: string; only: number | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { host: bracketed ?? plain ?? entry, only: port === undefined ? undefined : Number(port) };
}

function isAddressIn(address: string, entry: string): boolean {
  const [base = '', bits] = entry.split('/');
  const family = isIP(base);
  if (family === 0 || family !== isIP(address)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 4 ? 32 : 128)) return false;
  const range = new BlockList();
  range.addSubnet(base, length, kind);
  return range.check(address, kind);
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
