import { usageError } from '../errors.ts';

export interface RedisUrl {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number | undefined;
  readonly username: string | undefined;
  /** Without a colon behind it: redis-cli takes such a word for the password. */
  readonly isUsernameAmbiguous: boolean;
  readonly password: string | undefined;
  readonly db: number | undefined;
}

/**
 * `redis[s]://[[user]:password@]host[:port][/db]`
 * (https://www.iana.org/assignments/uri-schemes/prov/redis). Names and passwords may be percent-encoded; characters
 * that are not are taken as they stand, up to the last `@`, because people paste passwords as they are.
 */
export function parseRedisUrl(text: string): RedisUrl {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text.trim()) ?? [];
  const tls = schemes[scheme.toLowerCase()];
  if (tls === undefined) throw refusedScheme(scheme.toLowerCase());
  const at = rest.lastIndexOf('@');
  const person = at < 0 ? undefined : rest.slice(0, at);
  const place = /^(\[[^\]]*\]|[^:/?#]*)(?::([^/?#]*))?(?:\/([^?#]*))?(\?[^#]*)?(#.*)?$/s.exec(rest.slice(at + 1));
  if (severalHosts.test(rest.slice(at + 1)))
    throw usageError(
      'the URL of the source holds more than one host',
      'give one server; an IPv6 address stands in brackets, as in redis://[::1]:6379',
    );
  if (place === null) throw usageError('the URL of the source has no host that can be read', example);
  const [, host = '', port, path, query, fragment] = place;
  if (host === '' || host === '[]') throw usageError('the URL of the source has no host', example);
  if (query !== undefined && query !== '?') {
    throw usageError('the URL of the source has parameters after ?', 'give them as options');
  }
  if (fragment !== undefined) throw usageError('the URL of the source has a part after #', example);
  return { tls, host: hostOf(host), port: portOf(port), db: dbOf(path), ...userInfoOf(person) };
}

/** A comma, or a second colon outside of brackets. */
const severalHosts = /^[^[/?#]*(,|:[^/?#]*:)/;
const schemes: Readonly<Record<string, boolean>> = { redis: false, rediss: true, valkey: false, valkeys: true };
const example = 'write it as redis://user:password@host:6379/0, with rediss:// for TLS';

function refusedScheme(scheme: string) {
  if (scheme.includes('unix')) {
    return usageError(
      'a unix socket cannot be migrated from',
      'give host and port: the service connects over the network',
    );
  }
  return usageError(scheme === '' ? 'the source is no URL' : `${scheme}:// is no scheme of Redis`, example);
}

function hostOf(host: string): string {
  const name = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  if (/[\s\p{Cc}]/u.test(name)) throw usageError('the host holds a space or a control character', example);
  return name;
}

function portOf(port: string | undefined): number | undefined {
  if (port === undefined || port === '') return undefined;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65535) {
    throw usageError('the URL of the source has no number from 1 to 65535 as its port', example);
  }
  return number;
}

function dbOf(path: string | undefined): number | undefined {
  if (path === undefined || path === '') return undefined;
  const number = path.replace(/\/$/, '');
  if (!/^\d{1,9}$/.test(number)) throw usageError('after the host stands a database by its number, as in /0', example);
  return Number(number);
}

function userInfoOf(person: string | undefined) {
  if (person === undefined) return { username: undefined, isUsernameAmbiguous: false, password: undefined };
  const colon = person.indexOf(':');
  const username = decoded(colon < 0 ? person : person.slice(0, colon));
  const password = colon < 0 ? '' : decoded(person.slice(colon + 1));
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
    // The text may be a password: it is not shown.
    throw usageError('a user name or password in the URL has a % that encodes nothing', 'write %25 for a % sign');
  }
}
