import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { RedisEndpoint } from './endpoint.ts';

/**
 * TLS options that encrypt without verifying the certificate, like the service, which accepts no CA certificate. With
 * `ca` the certificate chain and the host name are verified.
 */
export function redisTlsOptions(source: RedisEndpoint): ConnectionOptions {
  return {
    host: source.host,
    // SNI may contain only host names (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    rejectUnauthorized: source.ca !== undefined,
    ...(source.ca === undefined ? {} : { ca: source.ca.pem }),
  };
}
