import type { TLSSocket } from 'node:tls';
import { sanitizeRemoteText } from './sanitize-remote-text.ts';

/** The TLS parameters of a connection. */
export interface TlsConnectionInfo {
  /** For example `TLSv1.3`. */
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

export function readTlsConnectionInfo(socket: TLSSocket): TlsConnectionInfo {
  const version = socket.getProtocol();
  const found = socket.getPeerX509Certificate();
  return {
    ...(version === null ? {} : { version }),
    ...(found === undefined
      ? {}
      : {
          certificate: {
            subject: sanitizeRemoteText(found.subject ?? ''),
            issuer: sanitizeRemoteText(found.issuer ?? ''),
            validTo: Date.parse(found.validTo),
            selfSigned: found.subject === found.issuer,
          },
        }),
  };
}
