import { usageError } from '../errors.ts';

/** The parameters of a connection string by libpq's names, in the order written; the last of a name counts. */
export type ConnectionParameters = ReadonlyMap<string, string>;

/** Whether libpq would read the text as a connection string rather than as a plain name. */
export function isConnectionString(text: string): boolean {
  return isUri(text) || text.includes('=');
}

/**
 * Reads `postgres://…` and `key=value …` (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
 * Throws a CliError that quotes nothing of the text, which may hold a password.
 * @param what where the text came from: `--source`
 */
export function parseConnectionString(text: string, what: string): ConnectionParameters {
  // A secret that came from a file ends in a newline, and no URI holds a bare space.
  const trimmed = text.trim();
  return isUri(trimmed) ? parseUri(trimmed, what) : parseKeyValuePairs(text, what);
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function parseUri(text: string, what: string): ConnectionParameters {
  const scheme = /^postgres(?:ql)?:\/\//.exec(text);
  if (scheme === null) throw usageError(`${what} is no PostgreSQL address`, 'begin it with postgres://');
  const found = new Map<string, string>();
  const set = (name: string, value: string) => {
    if (value !== '') found.set(name, percentDecoded(value, name, what));
  };
  let rest = text.slice(scheme[0].length);
  // libpq's own rule: what stands before an @ is a user, unless a slash comes first.
  const user = /^([^@/]*)@/.exec(rest);
  if (user !== null) {
    const [, name = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(user[1]!) ?? [];
    set('user', name);
    set('password', password);
    rest = rest.slice(user[0].length);
  }
  const [, authority = '', path = '', query = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest) ?? [];
  if (authority.includes('@') || path.includes('@')) {
    throw usageError(`${what} holds an @ in the user name or the password`, 'write it as %40, and / as %2F');
  }
  parseAuthority(authority, set, what);
  set('dbname', path);
  for (const pair of query.split('&').filter((each) => each !== '')) {
    const at = pair.indexOf('=');
    if (at < 1) throw usageError(`${what} has a parameter without a value`);
    set(percentDecoded(pair.slice(0, at), 'parameter', what), pair.slice(at + 1));
  }
  return found;
}

function parseAuthority(authority: string, set: (name: string, value: string) => void, what: string): void {
  if (authority.includes(',')) throw multipleHostsError(what);
  const [, inBrackets, bare = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(authority) ?? [];
  if (inBrackets === undefined && authority.split(':').length > 2) {
    throw usageError(
      `the host of ${what} is not clear`,
      'write an IPv6 address in brackets, and a : in a password as %3A',
    );
  }
  set('host', inBrackets ?? bare);
  set('port', port ?? '');
}

export function multipleHostsError(what: string): Error {
  return usageError(`${what} names several hosts, and a migration has one source`, 'name the primary server alone');
}

function percentDecoded(text: string, name: string, what: string): string {
  try {
    // A stray % is refused as libpq does, and so are bytes that are no UTF-8.
    const plain = decodeURIComponent(text);
    if (!plain.includes('\0')) return plain;
  } catch {
    // What decodeURIComponent says quotes nothing, and says nothing either.
  }
  throw usageError(`the ${known.has(name) ? name : 'parameter'} in ${what} is not percent-encoded`, 'write a % as %25');
}

const known = new Set(['user', 'password', 'host', 'port', 'dbname']);

/** `host=db port=5432 password='it''s'`: a value in quotes may hold spaces, and a backslash takes the next character as it is. */
function parseKeyValuePairs(text: string, what: string): ConnectionParameters {
  const found = new Map<string, string>();
  const pair = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'(?=\s|$)|((?:[^\s'\\]|\\.)(?:[^\s\\]|\\.)*)?(?=\s|$))\s*/sy;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (match === null)
      throw usageError(`${what} is not a connection string`, 'write postgres://USER@HOST:PORT/DBNAME');
    const value = (match[2] ?? match[3] ?? '').replace(/\\(.)/gs, '$1');
    if (value !== '') found.set(match[1]!, value);
  }
  return found;
}
