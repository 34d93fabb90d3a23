import { BlockList, isIP } from 'node:net';
import { CliError } from '../base/errors.ts';
import type { ProcessEnvironment } from './host.ts';
import { isLoopbackHost } from './loopback-host.ts';

export interface HttpProxy {
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

function parseProxy(variable: string, value: string): HttpProxy {
  const text = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(text)) throw new CliError('config_invalid', `${variable} is not a URL`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new CliError(
      'config_invalid',
      `${variable} has the unsupported proxy protocol ${url.protocol.slice(0, -1)}`,
      {
        hint: `set ${variable} to an http:// or https:// proxy`,
      },
    );
  }
  const secure = url.protocol === 'https:';
  const user = percentDecoded(url.username);
  const password = percentDecoded(url.password);
  return {
    secure,
    hostname: unbracketed(url.hostname),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authorization:
      user === '' && password === '' ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    displayUrl: url.origin,
  };
}

/** A proxy password with an unencoded percent sign is used unchanged. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
