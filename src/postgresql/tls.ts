import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { PostgresqlEndpoint } from './endpoint.ts';

/**
 * TLS options that encrypt without verifying the certificate, like sslmode=require of libpq, unless `verify` is set.
 */
export function postgresqlTlsOptions({ host, verify }: PostgresqlEndpoint): ConnectionOptions {
  const name = host.replace(/\.$/, '');
  return {
    host: name,
    // SNI may contain only host names without a final dot (RFC 6066, section 3); the package pg would set it to the IP
    // address of the connection.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: verify !== undefined,
    ...(verify?.ca === undefined ? {} : { ca: verify.ca.pem }),
    checkServerIdentity: (host, certificate) =>
      verify?.what === 'full' ? checkServerIdentity(host, certificate) : undefined,
  };
}
