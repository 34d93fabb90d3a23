import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { RedisSource } from './source.ts';

/** Encrypts without asking who answers: nobody can tell the service a CA either. With a CA its chain and the name are verified. */
export function redisTlsOptions(source: RedisSource): ConnectionOptions {
  return {
    host: source.host,
    // SNI holds names only (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    ...(source.ca === undefined ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: source.ca.pem }),
  };
}
