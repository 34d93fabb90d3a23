import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type TLSSocket } from 'node:tls';
import { cleaned } from '../platform/cleaned.ts';
import type { PostgresSource } from './source.ts';

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

/** Encrypts without asking who answers, as libpq's `require` and the service do, unless the source says `verify`. */
export function tlsOptions({ host, verify }: PostgresSource): ConnectionOptions {
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
