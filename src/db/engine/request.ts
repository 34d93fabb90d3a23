import { CliError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import {
  type PostgresqlEndpoint,
  readHost,
  parsePostgresqlEndpoint as readPostgres,
} from '../../postgresql/endpoint.ts';
import { type RedisEndpoint, parseRedisEndpoint as readRedis } from '../../redis/endpoint.ts';

/** The source of an online migration request (docs/service.md S9.2), field by field as it was sent. */
export interface RequestedSource {
  readonly host: string;
  readonly port?: number;
  readonly dbname?: string;
  readonly username?: string;
  readonly password?: string;
  readonly disableSsl: boolean;
}

type RequestedMigrationSourceResult<S> =
  | { readonly ok: true; readonly source: S }
  | { readonly ok: false; readonly message: string };

export function parsePostgresSource(requested: RequestedSource): RequestedMigrationSourceResult<PostgresqlEndpoint> {
  return parseSource(requested, (password) => {
    const { host, port, dbname, username, disableSsl } = requested;
    const options = { host, port: port === undefined ? undefined : String(port), dbname, username, disableSsl };
    const { source } = readPostgres(options, refuseFile);
    return password === undefined ? source : { ...source, password };
  });
}

export function parseRedisSource(requested: RequestedSource): RequestedMigrationSourceResult<RedisEndpoint> {
  return parseSource(requested, (password) => {
    const { host, port, username, disableSsl } = requested;
    // A source URL determines whether TLS is used; `disable_ssl` is an error only if it contradicts the URL.
    const { source } = readRedis({ host, port, username, password, disableSsl });
    return { ...source, host: readHost(source.host) };
  });
}

/** Any file would be one of the machine that migrates. */
function refuseFile(): never {
  throw new CliError('usage', 'a source cannot name files of the service');
}

/**
 * Whether the source of the request is the server at the given address. Host names are not resolved, so another name of
 * the same remote server is not recognized.
 */
export function isServerSource(
  requested: RequestedSource,
  server: { readonly engine: 'postgresql' | 'redis'; readonly host: string; readonly port: number },
): boolean {
  const parsed = server.engine === 'postgresql' ? parsePostgresSource(requested) : parseRedisSource(requested);
  if (!parsed.ok || parsed.source.port !== server.port) return false;
  const [one, other] = [bareHost(parsed.source.host), bareHost(server.host)];
  return one === other || (isLoopback(one) && isLoopback(other));
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function isLoopback(host: string): boolean {
  return isLoopbackHost(host) || host === '::1';
}

function parseSource<S>(
  { password }: RequestedSource,
  build: (password: Secret | undefined) => S,
): RequestedMigrationSourceResult<S> {
  try {
    return { ok: true, source: build(password === undefined || password === '' ? undefined : new Secret(password)) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { ok: false, message: `${inFields(error.message)}.` };
  }
}

/** The parsers name the options of the command line; a request has fields, and a URL is in the field of the host. */
function inFields(message: string): string {
  const named = message.replaceAll(
    /--(source|host|port|dbname|username|disable-ssl)\b|\bthe (user|database|host) of the source|^the (host)\b/g,
    (text, ...[option, part, host]: readonly (string | undefined)[]) => FIELDS[option ?? part ?? host ?? ''] ?? text,
  );
  return /source\.|disable_ssl/.test(named) ? named : `source.host: ${named}`;
}

const FIELDS: Readonly<Record<string, string>> = {
  source: 'source.host',
  host: 'source.host',
  port: 'source.port',
  dbname: 'source.dbname',
  database: 'source.dbname',
  username: 'source.username',
  user: 'source.username',
  'disable-ssl': 'disable_ssl',
};
