import { usageError } from '../base/errors.ts';
import type { PostgresqlConnectionParameters } from './connection-string.ts';

/**
 * Checks the parameters of a connection string, and returns notes about those that a migration does not use. Throws a
 * CliError for parameters that a migration cannot support, and for unknown parameters, because a misspelt sslmode must
 * not be ignored.
 */
export function validatePostgresqlConnectionStringParameters(
  parameters: PostgresqlConnectionParameters,
  what: string,
): readonly string[] {
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
