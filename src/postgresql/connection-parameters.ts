import { usageError } from '../errors.ts';
import type { ConnectionParameters } from './connection-string.ts';

/**
 * Refuses what a migration cannot do, and tells what has no meaning for one.
 * Throws a CliError for a parameter nobody knows: a misspelt sslmode must not be passed over.
 */
export function validateConnectionParameters(parameters: ConnectionParameters, what: string): readonly string[] {
  for (const name of parameters.keys()) {
    const reason = refused[name];
    if (reason !== undefined) throw usageError(`${what} has ${name}: ${reason}`);
  }
  const strange = [...parameters.keys()].find((name) => !used.has(name) && !ignored.has(name));
  // The name may be a piece of a password that was not encoded, so it is not repeated.
  if (strange !== undefined)
    throw usageError(`${what} has a parameter that is not known`, `known are ${[...used].join(', ')}`);
  return [...parameters.keys()].filter((name) => ignored.has(name)).map((name) => `${name} in ${what} is not used`);
}

/** Keys of SCRAM are no password, and the service has nothing else to log in with. */
const passwordOnly = 'the service logs in with a password, and so does the preflight';

const used = new Set(['host', 'port', 'dbname', 'user', 'password', 'sslmode', 'ssl', 'sslrootcert']);

const refused: Readonly<Record<string, string>> = {
  service: 'a service file is known to this machine only; give host, port, database and user themselves',
  servicefile: 'a service file is known to this machine only; give host, port, database and user themselves',
  hostaddr: 'the service is told one host; give the address as the host',
  sslcert: 'the service presents no client certificate, so the source must let it in with a password',
  scram_client_key: passwordOnly,
  scram_server_key: passwordOnly,
  oauth_issuer: passwordOnly,
  oauth_client_id: passwordOnly,
  oauth_client_secret: passwordOnly,
  sslkey: 'the service presents no client certificate, so the source must let it in with a password',
};

/** Of libpq, and of the drivers whose addresses people paste. */
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
