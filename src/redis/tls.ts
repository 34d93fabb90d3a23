import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { RedisSource } from './source.ts';

/**
 * TLS options that encrypt without verifying the certificate, like the service, which accepts no CA certificate. With
 * `ca` the certificate chain and the host name are verified.
 */
export function redisTlsOptions(source: RedisSource): ConnectionOptions {
  return {
    host: source.host,
    // SNI may contain only host names (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    ...(source.ca === undefined ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: source.ca.pem }),
  };
}
