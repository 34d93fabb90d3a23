import { usageError } from '../base/errors.ts';

export interface RedisUrl {
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
export function parseRedisUrl(text: string): RedisUrl {
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
