import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { sanitizeLine } from '../sanitize/terminal-text.ts';

/** The TLS parameters of a connection. */
export interface TlsConnectionInfo {
  /** For example `TLSv1.3`. */
  readonly version?: string;
  readonly certificate?: Certificate;
  /** The chain ends at an authority that this program trusts without a CA file; undefined: not determined. */
  readonly isPubliclyTrusted?: boolean;
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
  // After getPeerX509Certificate, Node.js 20 has no certificate left for a later reader (channel binding).
  const { raw } = socket.getPeerCertificate() ?? {};
  const found = raw === undefined ? undefined : new X509Certificate(raw);
  return {
    ...(version === null ? {} : { version }),
    ...(found === undefined
      ? {}
      : {
          certificate: {
            subject: sanitizeLine(found.subject ?? ''),
            issuer: sanitizeLine(found.issuer ?? ''),
            validTo: Date.parse(found.validTo),
            selfSigned: found.subject === found.issuer,
          },
        }),
  };
}
