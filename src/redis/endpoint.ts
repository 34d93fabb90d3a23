import { isIP } from 'node:net';
import { usageError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';

interface RedisUrl {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number | undefined;
  readonly username: string | undefined;
  /** The user name in the URL has no colon after it; redis-cli uses such a text as the password. */
  readonly isUsernameAmbiguous: boolean;
  readonly password: string | undefined;
  readonly db: number | undefined;
}

/**
 * `redis[s]://[[user]:password@]host[:port][/db]` (https://www.iana.org/assignments/uri-schemes/prov/redis). User names
 * and passwords in the URL may be percent-encoded; characters that are not encoded are used as they are, up to the last
 * `@`, because users paste passwords without encoding them.
 */
function parseRedisUrl(text: string): RedisUrl {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text.trim()) ?? [];
  const tls = schemes[scheme.toLowerCase()];
  if (tls === undefined) throw refusedScheme(scheme.toLowerCase());
  const at = rest.lastIndexOf('@');
  const userInfo = at < 0 ? undefined : rest.slice(0, at);
  const authority = /^(\[[^\]]*\]|[^:/?#]*)(?::([^/?#]*))?(?:\/([^?#]*))?(\?[^#]*)?(#.*)?$/s.exec(rest.slice(at + 1));
  if (severalHosts.test(rest.slice(at + 1)))
    throw usageError(
      'the URL of the source contains more than one host',
      'give one server; write an IPv6 address in brackets: redis://[::1]:6379',
    );
  if (authority === null) throw usageError('could not parse the host in the URL of the source', example);
  const [, host = '', port, path, query, fragment] = authority;
  if (host === '' || host === '[]') throw usageError('the URL of the source has no host', example);
  if (query !== undefined && query !== '?') {
    throw usageError('the URL of the source has parameters after ?', 'give the parameters as options');
  }
  if (fragment !== undefined) throw usageError('the URL of the source has a part after #', example);
  return { tls, host: hostOf(host), port: portOf(port), db: dbOf(path), ...userInfoOf(userInfo) };
}

/** Matches a URL with several hosts: it has a comma, or a second colon outside of brackets. */
const severalHosts = /^[^[/?#]*(,|:[^/?#]*:)/;
const schemes: Readonly<Record<string, boolean>> = { redis: false, rediss: true, valkey: false, valkeys: true };
const example = 'write the URL as redis://user:password@host:6379/0, with rediss:// for TLS';

function refusedScheme(scheme: string) {
  if (scheme.includes('unix')) {
    return usageError(
      'a Unix socket cannot be the source',
      'give host and port: the service connects over the network',
    );
  }
  return usageError(scheme === '' ? 'the source is not a URL' : `${scheme}:// is not a Redis scheme`, example);
}

function hostOf(host: string): string {
  const name = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  if (/[\s\p{Cc}]/u.test(name)) throw usageError('the host contains a space or a control character', example);
  return name;
}

function portOf(port: string | undefined): number | undefined {
  if (port === undefined || port === '') return undefined;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65535) {
    throw usageError('the port in the URL of the source is not a number from 1 to 65535', example);
  }
  return number;
}

function dbOf(path: string | undefined): number | undefined {
  if (path === undefined || path === '') return undefined;
  const number = path.replace(/\/$/, '');
  if (!/^\d{1,9}$/.test(number))
    throw usageError('the path of the URL is not the number of a database, such as /0', example);
  return Number(number);
}

function userInfoOf(userInfo: string | undefined) {
  if (userInfo === undefined) return { username: undefined, isUsernameAmbiguous: false, password: undefined };
  const colon = userInfo.indexOf(':');
  const username = decoded(colon < 0 ? userInfo : userInfo.slice(0, colon));
  const password = colon < 0 ? '' : decoded(userInfo.slice(colon + 1));
  return {
    username: username === '' ? undefined : username,
    isUsernameAmbiguous: colon < 0 && username !== '',
    password: password === '' ? undefined : password,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The error does not show the user name or the password, because the user name may also be a secret.
    throw usageError(
      'the user name or the password in the URL contains a % that encodes nothing',
      'write %25 for a % sign',
    );
  }
}

/** The address and the credentials of a Redis source, as given; no connection was made yet. */
export interface RedisEndpoint {
  /** The host name or the IP address of the server, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The user name; undefined for the default user. */
  readonly username: string | undefined;
  /**
   * Whether a user name was given without a password, so that no AUTH is sent. The user name is not kept, because it
   * may be the password.
   */
  readonly isUsernameUnused?: boolean | undefined;
  /**
   * Whether the user name stands before the @ of a URL without a colon, so that it may be a password; it is shown only
   * after a successful login with it.
   */
  readonly isUsernameAmbiguous?: boolean | undefined;
  /** undefined: not given. */
  readonly password: Secret | undefined;
  /** The database number in the URL, which has no effect, because a migration copies all databases. */
  readonly db: number | undefined;
  readonly ssl: 'require' | 'disable';
  /**
   * The CA certificates with which the certificate and the host name are verified; without them the connection is only
   * encrypted.
   */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
  /** The IP address of `host`, so that the name is resolved only once. */
  readonly address?: string | undefined;
}

export interface RedisEndpointInput {
  /** A URL with `redis://` or `rediss://`; a URL in `host` is parsed in the same way. */
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly username?: string | undefined;
  /**
   * The password from standard input or a prompt. This password overrides that of the URL, which overrides that of the
   * environment.
   */
  readonly password?: Secret | undefined;
  readonly disableSsl?: boolean | undefined;
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
  readonly environment?: { readonly REDISCLI_AUTH?: string | undefined } | undefined;
}

interface ParsedRedisEndpoint {
  readonly source: RedisEndpoint;
  /**
   * A user name in the URL that is not part of `source`, because no password was given and Redis has no login with a user
   * name only.
   */
  readonly unusedUsername?: string | undefined;
  /** Where the password comes from; `url`: other users of this machine can see it in the list of processes. */
  readonly passwordFrom: 'given' | 'url' | 'environment' | 'none';
}

const redisPort = 6379;

/**
 * Parses the options of a Redis source. Throws a CliError (usage) for wrong or contradicting values, and never quotes a
 * password.
 */
export function parseRedisEndpoint(parts: RedisEndpointInput): ParsedRedisEndpoint {
  refuseSocket(parts.host);
  const inHost = parts.host?.includes('://') ?? false;
  if (inHost && parts.url !== undefined)
    throw usageError('--source and --host both contain a URL', 'give the URL in one of the two options');
  const url = inHost ? parts.host : parts.url;
  const found = url === undefined ? undefined : parseRedisUrl(url);
  const host = sameValue('host', found?.host, inHost || parts.host === undefined ? undefined : bare(parts.host));
  const port = sameValue('port', found?.port, parts.port) ?? redisPort;
  const username = nameOf(found, parts.username === '' ? undefined : parts.username);
  if (host === undefined || host === '') throw usageError('the source has no host', 'give --source redis://HOST:6379');
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw usageError(`port ${port} is not a port number`, 'give a number from 1 to 65535');
  }
  const ssl = sslModeOf(found?.tls, parts);
  const { password, from } = passwordOf(found?.password, parts);
  const base = { host, port, password, db: found?.db, ssl, ...(parts.ca === undefined ? {} : { ca: parts.ca }) };
  const ambiguity =
    found?.isUsernameAmbiguous === true && parts.username !== username ? { isUsernameAmbiguous: true } : {};
  // A connection without a password uses the user `default`.
  const isNamed = username !== undefined && username !== 'default';
  return isNamed && password === undefined
    ? {
        source: { ...base, username: undefined, isUsernameUnused: true, ...ambiguity },
        unusedUsername: username,
        passwordFrom: from,
      }
    : { source: { ...base, username, ...ambiguity }, passwordFrom: from };
}

/** Adds a password from a prompt to the source, together with the user name that was omitted. */
export function addPassword(
  { source, unusedUsername: idleName }: ParsedRedisEndpoint,
  password: Secret | undefined,
): RedisEndpoint {
  if (password === undefined) return source;
  const { isUsernameUnused: _isUsernameUnused, ...rest } = source;
  return { ...rest, username: source.username ?? idleName, password };
}

/** `[::1]:6379` or `db.example.com:6379`. */
export function formatAddress({ host, port }: Pick<RedisEndpoint, 'host' | 'port'>): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

function refuseSocket(host: string | undefined): void {
  if (host?.startsWith('/') === true) {
    throw usageError('a Unix socket cannot be the source', 'give host and port: the service connects over the network');
  }
}

function nameOf(found: RedisUrl | undefined, part: string | undefined): string | undefined {
  if (found?.isUsernameAmbiguous === true && part !== undefined && part !== found.username) {
    throw usageError(
      `the user name is given twice: before the @ of the URL, and as ${part}`,
      'give the user name once; if the text before the @ is the password, put a colon before it: redis://:PASSWORD@HOST',
    );
  }
  return sameValue('user name', found?.username, part);
}

/** A value that is given twice must be the same both times. */
function sameValue<T extends string | number>(what: string, inUrl: T | undefined, part: T | undefined): T | undefined {
  if (inUrl === undefined || part === undefined || inUrl === part) return inUrl ?? part;
  throw usageError(`the ${what} is given twice: ${inUrl} in the URL and ${part}`, 'give it once');
}

function sslModeOf(tls: boolean | undefined, parts: RedisEndpointInput): 'require' | 'disable' {
  if (tls === true && parts.disableSsl === true) {
    throw usageError('rediss:// requires TLS and --disable-ssl forbids it', 'omit --disable-ssl, or write redis://');
  }
  const disabled = tls === false || parts.disableSsl === true;
  if (disabled && parts.ca !== undefined) {
    throw usageError(
      `--ca-file verifies TLS, which ${tls === false ? 'redis://' : '--disable-ssl'} turns off`,
      'write rediss:// for a server with TLS, or omit --ca-file',
    );
  }
  return disabled ? 'disable' : 'require';
}

function passwordOf(inUrl: string | undefined, parts: RedisEndpointInput) {
  if (parts.password !== undefined) return { password: parts.password, from: 'given' } as const;
  if (inUrl !== undefined) return { password: new Secret(inUrl), from: 'url' } as const;
  const environment = parts.environment?.REDISCLI_AUTH ?? '';
  if (environment !== '') return { password: new Secret(environment), from: 'environment' } as const;
  return { password: undefined, from: 'none' } as const;
}

function bare(host: string): string {
  return /^\[(.*)\]$/.exec(host)?.[1] ?? host;
}
