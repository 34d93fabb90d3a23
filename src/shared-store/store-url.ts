import { CliError, usageError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { isLoopbackHost } from '../platform/loopback-host.ts';
import { validatePostgresqlConnectionStringParameters } from '../postgresql/connection-parameters.ts';
import { parsePostgresqlConnectionString } from '../postgresql/connection-string.ts';
import type { PostgresqlEndpoint } from '../postgresql/endpoint.ts';
import { parseSslOptions } from '../postgresql/ssl-options.ts';
import { parseRedisEndpoint, type RedisEndpoint } from '../redis/endpoint.ts';

/** The server of the shared store, from CLOUDCTL_STORE_URL. */
export type SharedStoreAddress =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlEndpoint }
  | { readonly engine: 'redis'; readonly source: RedisEndpoint };

/**
 * The environment variable with the URL of the shared store. There is no setting for this URL, because other users may be
 * able to read config.json and command-line arguments.
 */
export const storeUrlVariable = 'CLOUDCTL_STORE_URL';

/**
 * Parses the URL of the shared store. The certificate of the server is always verified, except for a server on this machine,
 * which may also be reached without TLS. Throws a CliError (usage) that quotes no part of the URL.
 * @param readText returns the text of a file, undefined when there is none
 */
export function parseSharedStoreUrl(
  url: string | undefined,
  readText: (path: string) => string | undefined,
): SharedStoreAddress {
  if (url === undefined)
    throw usageError(
      `the profile uses a shared credential store, and ${storeUrlVariable} is not set`,
      `set the variable: \`export ${storeUrlVariable}=postgres://USER:PASSWORD@HOST:5432/DBNAME\``,
    );
  if (/^postgres(ql)?:\/\//.test(url)) return { engine: 'postgresql', source: parsePostgresqlStore(url, readText) };
  if (/^rediss?:\/\//.test(url)) return { engine: 'redis', source: parseRedisStore(url) };
  throw usageError(
    `${storeUrlVariable} is not a URL of PostgreSQL or Redis`,
    'begin the URL with postgres://, redis:// or rediss://',
  );
}

function parsePostgresqlStore(url: string, readText: (path: string) => string | undefined): PostgresqlEndpoint {
  const parameters = parsePostgresqlConnectionString(url, storeUrlVariable);
  validatePostgresqlConnectionStringParameters(parameters, storeUrlVariable);
  const [host, username, password] = ['host', 'user', 'password'].map((name) => parameters.get(name));
  const port = Number(parameters.get('port') ?? '5432');
  if (host === undefined || host.startsWith('/') || username === undefined)
    throw usageError(
      `${storeUrlVariable} names no host or no user`,
      'write the URL as postgres://USER:PASSWORD@HOST:5432/DBNAME',
    );
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw usageError(`the port in ${storeUrlVariable} is not a number from 1 to 65535`);
  const base = {
    host,
    port,
    username,
    dbname: parameters.get('dbname') ?? username,
    password: password === undefined ? undefined : new Secret(password),
  };
  const isLocal = isLoopback(host);
  const hasMode = parameters.has('sslmode') || parameters.has('ssl');
  if (isLocal && !hasMode && !parameters.has('sslrootcert')) return { ...base, ssl: 'disable' };
  const { ssl, verify } = parseSslOptions(parameters, {}, readText);
  if (isLocal) return { ...base, ssl, ...(verify === undefined ? {} : { verify }) };
  if (ssl === 'disable') throw plainTextError('sslmode=disable', 'remove sslmode');
  return { ...base, ssl, verify: { what: 'full', ...(verify?.ca === undefined ? {} : { ca: verify.ca }) } };
}

function parseRedisStore(url: string): RedisEndpoint {
  const source = parseRedisStoreSource(url);
  if (isLoopback(source.host)) return source;
  if (source.ssl === 'disable') throw plainTextError('redis://', 'write rediss://');
  return { ...source, isVerified: true };
}

function parseRedisStoreSource(url: string): RedisEndpoint {
  try {
    return parseRedisEndpoint({ url }).source;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(`could not parse ${storeUrlVariable}: ${error.message}`, error.hint, error.detail);
  }
}

function plainTextError(what: string, hint: string): CliError {
  return usageError(`${storeUrlVariable} with ${what} sends the password without encryption over the network`, hint);
}

function isLoopback(host: string): boolean {
  return host === '::1' || isLoopbackHost(host);
}
