import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { sanitizeLine } from '../base/sanitize.ts';

/** The TLS parameters of a connection. */
export interface TlsConnectionInfo {
  /** The TLS version, for example `TLSv1.3`. */
  readonly version?: string;
  readonly certificate?: Certificate;
  /** Whether the certificate chain ends at a CA that this program trusts without a CA file; undefined if this was not determined. */
  readonly isPubliclyTrusted?: boolean;
}

export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  /** The expiry of the certificate in milliseconds since the epoch. */
  readonly validTo: number;
  readonly selfSigned: boolean;
}

export function readTlsInfoOfSocket(socket: TLSSocket): TlsConnectionInfo {
  const version = socket.getProtocol();
  // The function getPeerX509Certificate is not called, because in Node.js 20 the certificate would then be missing for channel
  // binding.
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
