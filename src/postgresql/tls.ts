import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { PostgresqlSource } from './source.ts';

/** Encrypts without asking who answers, as libpq's `require` and the service do, unless the source says `verify`. */
export function postgresqlTlsOptions({ host, verify }: PostgresqlSource): ConnectionOptions {
  const name = host.replace(/\.$/, '');
  return {
    host: name,
    // SNI holds names only, and no last dot (RFC 6066 §3); pg itself sets it from what it dials, which may be an address.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: verify !== undefined,
    ...(verify?.ca === undefined ? {} : { ca: verify.ca.pem }),
    checkServerIdentity: (asked, certificate) =>
      verify?.what === 'full' ? checkServerIdentity(asked, certificate) : undefined,
  };
}
