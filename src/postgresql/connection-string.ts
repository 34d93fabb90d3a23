import { join } from 'node:path';
import { usageError } from '../base/errors.ts';
import { readText } from '../platform/files.ts';
import type { ProcessEnvironment } from '../platform/host.ts';

/**
 * The parameters of a connection string by their libpq names, in order; of several values of a parameter, the last one
 * applies.
 */
export type ConnectionParameters = ReadonlyMap<string, string>;

/** Whether libpq would parse the text as a connection string, not as a database name. */
export function isConnectionString(text: string): boolean {
  return isUri(text) || text.includes('=');
}

/**
 * Parses `postgres://…` and `key=value …` (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
 * Throws a CliError that quotes no part of the text, which may contain a password.
 * @param what where the text came from: `--source`
 */
export function parseConnectionString(text: string, what: string): ConnectionParameters {
  // White space is removed, because a text from a file ends in a newline, and a URI contains no bare space.
  const trimmed = text.trim();
  return isUri(trimmed) ? parseUri(trimmed, what) : parsePairs(text, what);
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function parseUri(text: string, what: string): ConnectionParameters {
  const scheme = /^postgres(?:ql)?:\/\//.exec(text);
  if (scheme === null) throw usageError(`${what} is not a PostgreSQL URL`, 'begin the URL with postgres://');
  const found = new Map<string, string>();
  const set = (name: string, value: string) => {
    if (value !== '') found.set(name, percentDecoded(value, name, what));
  };
  let rest = text.slice(scheme[0].length);
  // As in libpq, the part of a URI before an @ is the user, unless a slash comes first.
  const user = /^([^@/]*)@/.exec(rest);
  if (user !== null) {
    const [, name = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(user[1]!) ?? [];
    set('user', name);
    set('password', password);
    rest = rest.slice(user[0].length);
  }
  const [, authority = '', path = '', query = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest) ?? [];
  if (authority.includes('@') || path.includes('@')) {
    throw usageError(`the user name or the password in ${what} contains @ or /`, 'percent-encode them: %40 and %2F');
  }
  parseAuthority(authority, set, what);
  set('dbname', path);
  for (const pair of query.split('&').filter((each) => each !== '')) {
    const at = pair.indexOf('=');
    if (at < 1) throw usageError(`a parameter of ${what} has no value`, 'write it as name=value');
    set(percentDecoded(pair.slice(0, at), 'parameter', what), pair.slice(at + 1));
  }
  return found;
}

function parseAuthority(authority: string, set: (name: string, value: string) => void, what: string): void {
  if (authority.includes(',')) throw multipleHostsError(what);
  const [, inBrackets, bare = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(authority) ?? [];
  if (inBrackets === undefined && authority.split(':').length > 2) {
    throw usageError(
      `the host of ${what} contains several colons`,
      'put an IPv6 address in brackets, and percent-encode a colon in a password: %3A',
    );
  }
  set('host', inBrackets ?? bare);
  set('port', port ?? '');
}

export function multipleHostsError(what: string): Error {
  return usageError(`${what} contains several hosts`, 'give the primary server only');
}

function percentDecoded(text: string, name: string, what: string): string {
  try {
    // As in libpq, a single % and bytes that are not valid UTF-8 are errors.
    const plain = decodeURIComponent(text);
    if (!plain.includes('\0')) return plain;
  } catch {
    // The message of decodeURIComponent has no useful detail.
  }
  throw usageError(
    `the ${known.has(name) ? name : 'parameter'} in ${what} is not percent-encoded`,
    'percent-encode % as %25',
  );
}

const known = new Set(['user', 'password', 'host', 'port', 'dbname']);

/**
 * Parses the keyword/value format: `host=db port=5432 password='it\'s'`: a quoted value may contain spaces, and a
 * backslash escapes the next character.
 */
function parsePairs(text: string, what: string): ConnectionParameters {
  const found = new Map<string, string>();
  const pair = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'(?=\s|$)|((?:[^\s'\\]|\\.)(?:[^\s\\]|\\.)*)?(?=\s|$))\s*/sy;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (match === null)
      throw usageError(`${what} is not a connection string`, 'write it as postgres://USER@HOST:PORT/DBNAME');
    const value = (match[2] ?? match[3] ?? '').replace(/\\(.)/gs, '$1');
    if (value !== '') found.set(match[1]!, value);
  }
  return found;
}

/**
 * Checks the parameters of a connection string, and returns notes about those that a migration does not use. Throws a
 * CliError for parameters that a migration cannot support, and for unknown parameters, because a misspelt sslmode must
 * not be ignored.
 */
export function validateParameters(parameters: ConnectionParameters, what: string): readonly string[] {
  for (const name of parameters.keys()) {
    const reason = refused[name];
    if (reason !== undefined) throw usageError(`the parameter ${name} of ${what} is not supported: ${reason}`);
  }
  const strange = [...parameters.keys()].find((name) => !used.has(name) && !ignored.has(name));
  // The error does not contain the name of the parameter, which may be part of a password that was not percent-encoded.
  if (strange !== undefined) throw usageError(`a parameter of ${what} is unknown`, `use only ${[...used].join(', ')}`);
  return [...parameters.keys()]
    .filter((name) => ignored.has(name))
    .map((name) => `the parameter ${name} of ${what} is ignored`);
}

/** SCRAM keys are not supported, because the service logs in only with a password. */
const passwordOnly = 'the service logs in with a password';

const used = new Set(['host', 'port', 'dbname', 'user', 'password', 'sslmode', 'ssl', 'sslrootcert']);

const refused: Readonly<Record<string, string>> = {
  service: 'the service cannot read a service file; give host, port, database and user',
  servicefile: 'the service cannot read a service file; give host, port, database and user',
  hostaddr: 'give the address as the host',
  sslcert: 'the service has no client certificate and logs in with a password',
  scram_client_key: passwordOnly,
  scram_server_key: passwordOnly,
  oauth_issuer: passwordOnly,
  oauth_client_id: passwordOnly,
  oauth_client_secret: passwordOnly,
  sslkey: 'the service has no client certificate and logs in with a password',
};

/** Parameters of libpq and of other drivers, whose URLs users paste. */
const ignored = new Set([
  'application_name',
  'fallback_application_name',
  'channel_binding',
  'client_encoding',
  'connect_timeout',
  'connection_limit',
  'gssdelegation',
  'gssencmode',
  'gsslib',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'krbsrvname',
  'load_balance_hosts',
  'max_protocol_version',
  'min_protocol_version',
  'oauth_scope',
  'options',
  'passfile',
  'pgbouncer',
  'pool_timeout',
  'replication',
  'require_auth',
  'requirepeer',
  'requiressl',
  'schema',
  'sslcertmode',
  'sslcompression',
  'sslcrl',
  'sslcrldir',
  'sslkeylogfile',
  'sslnegotiation',
  'sslpassword',
  'sslsni',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
  'target_session_attrs',
  'tcp_user_timeout',
]);

/**
 * The connection string of a service: from PGSERVICEFILE or `~/.pg_service.conf`, else from the folder PGSYSCONFDIR
 * (https://www.postgresql.org/docs/current/libpq-pgservice.html); undefined if no file has the service.
 */
export function findPgService(
  name: string,
  { PGSERVICEFILE = '', HOME = '', PGSYSCONFDIR = '' }: ProcessEnvironment,
): string | undefined {
  const own = PGSERVICEFILE !== '' ? PGSERVICEFILE : HOME === '' ? undefined : join(HOME, '.pg_service.conf');
  const files = [own, PGSYSCONFDIR === '' ? undefined : join(PGSYSCONFDIR, 'pg_service.conf')];
  for (const file of files) {
    const text = file === undefined ? undefined : readText(file);
    const found = text === undefined ? undefined : convertPgService(text, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The section of a service file as a connection string; undefined if there is no such section. */
export function convertPgService(text: string, name: string): string | undefined {
  let pairs: string[] | undefined;
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const section = /^\[(.*)\]$/.exec(line);
    if (section !== null) {
      // As in libpq, the first of several sections with the same name applies.
      if (pairs !== undefined) break;
      if (section[1] === name) pairs = [];
    } else if (pairs !== undefined) {
      const at = line.indexOf('=');
      if (at > 0) pairs.push(`${line.slice(0, at).trim()}=${quoteConnectionValue(line.slice(at + 1).trim())}`);
    }
  }
  return pairs?.join(' ');
}

/** A value of a connection string of keywords and values. */
export function quoteConnectionValue(value: string): string {
  return `'${value.replace(/['\\]/g, '\\$&')}'`;
}
