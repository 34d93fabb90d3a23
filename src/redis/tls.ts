import { isIP } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { cleaned } from '../platform/cleaned.ts';
import type { RedisSource } from './source.ts';

/** What was agreed with the server. */
export interface TlsSession {
  /** As in `TLSv1.3`. */
  readonly version?: string;
  readonly certificate?: Certificate;
}

export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly validTo: number;
  readonly selfSigned: boolean;
}

/** Encrypts without asking who answers: nobody can tell the service a CA either. With a CA its chain and the name are verified. */
export function tlsOptions(source: RedisSource): ConnectionOptions {
  return {
    host: source.host,
    // SNI holds names only (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    ...(source.ca === undefined ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: source.ca.pem }),
  };
}

export function readTls(socket: TLSSocket): TlsSession {
  const version = socket.getProtocol();
  const found = socket.getPeerX509Certificate();
  return {
    ...(version === null ? {} : { version }),
    ...(found === undefined
      ? {}
      : {
          certificate: {
            subject: cleaned(found.subject ?? ''),
            issuer: cleaned(found.issuer ?? ''),
            validTo: Date.parse(found.validTo),
            selfSigned: found.subject === found.issuer,
          },
        }),
  };
}
