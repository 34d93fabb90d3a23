import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { PostgresqlSource } from './source.ts';

/** Encrypts without verifying the certificate, like sslmode=require of libpq and like the service, unless `verify` is set. */
export function postgresqlTlsOptions({ host, verify }: PostgresqlSource): ConnectionOptions {
  const name = host.replace(/\.$/, '');
  return {
    host: name,
    // SNI contains only host names without a final dot (RFC 6066, section 3). pg would set it to the address that it
    // connects to.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: verify !== undefined,
    ...(verify?.ca === undefined ? {} : { ca: verify.ca.pem }),
    checkServerIdentity: (host, certificate) =>
      verify?.what === 'full' ? checkServerIdentity(host, certificate) : undefined,
  };
}
