import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { RedisSource } from './source.ts';

/** Encrypts without verifying the server, as the service does, which takes no CA. With `ca` the chain and the name are verified. */
export function redisTlsOptions(source: RedisSource): ConnectionOptions {
  return {
    host: source.host,
    // SNI holds names only (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    ...(source.ca === undefined ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: source.ca.pem }),
  };
}
