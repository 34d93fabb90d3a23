import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { sanitizeLine } from '../base/sanitize.ts';
import { SendError } from './http-sender.ts';

/**
 * The error for a failed network connection. The error has a message of this program, because the messages of libraries can
 * contain URLs with secrets.
 */
export function networkSendError(error: Error, what: string): SendError {
  const code = readErrorCode(error);
  if (syscallOf(error) === 'getaddrinfo') {
    return new SendError(
      'name',
      false,
      `${what}: ${code === 'EAI_AGAIN' ? 'the name server does not respond' : 'the host name does not exist'}`,
    );
  }
  const kind = code === 'ECONNREFUSED' ? 'refused' : code === 'ETIMEDOUT' ? 'timeout' : 'connection';
  return new SendError(kind, false, `${what}: ${describeCode(code)}`);
}

/** The error for a failed TLS handshake or an untrusted certificate, before which no part of the request was sent. */
export function tlsSendError(error: Error, what: string): SendError {
  if (
    readErrorCode(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    readErrorCode(error) === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  ) {
    return new SendError('tls', false, `${what}: the server does not speak TLS on this port`, { noTls: true });
  }
  if (unknownIssuerCodes.has(readErrorCode(error) ?? ''))
    return new SendError(
      'tls',
      false,
      `${what}: no trusted CA issued its certificate (${sanitizeLine(error.message)})`,
      {
        unknownIssuer: true,
        hint: 'set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS to a PEM file with the root CA of this certificate',
      },
    );
  const message = 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
  const reason =
    readErrorCode(error) === 'ECONNRESET'
      ? 'the connection was closed during the TLS handshake'
      : sanitizeLine(message);
  return new SendError('tls', false, `${what}: ${reason}`);
}

/** https://docs.openssl.org/master/man1/openssl-verification-options/ describes them by their X509_V_ERR names. */
const unknownIssuerCodes: ReadonlySet<string> = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
]);

/** Describes an error code of the operating system in words. */
export function describeCode(code: string | undefined): string {
  return (
    (code === undefined ? undefined : reasons[code]) ?? `the connection failed${code === undefined ? '' : ` (${code})`}`
  );
}

/** The reason why a response is incomplete. */
export function describeIncomplete(error: unknown): string {
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', ''];
  if (name === 'HTTPParserError') return 'the response violates the HTTP protocol';
  // For an unexpected 100 Continue, undici closes the connection itself and reports the same error code as for a closed
  // connection.
  if (message === 'bad response') return 'the server sent an unexpected 100 Continue';
  return describeCode(readErrorCode(error));
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name is unknown',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the server closed the connection',
  UND_ERR_SOCKET: 'the server closed the connection',
  EPIPE: 'the server closed the connection',
  ETIMEDOUT: 'no response',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  EADDRNOTAVAIL: 'the address is not available on this machine',
};

export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function syscallOf(error: Error): unknown {
  return 'syscall' in error ? error.syscall : undefined;
}

/** The TLS parameters of a connection. */
export interface TlsInfo {
  /** The TLS version, for example `TLSv1.3`. */
  readonly version?: string;
  readonly certificate?: Certificate;
  /** Whether the certificate chain ends at a CA that this program trusts without a CA file; undefined if this was not determined. */
  readonly isPubliclyTrusted?: boolean;
}

interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  /** The expiry of the certificate in milliseconds since the epoch. */
  readonly validTo: number;
  readonly selfSigned: boolean;
}

export function readTlsInfo(socket: TLSSocket): TlsInfo {
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

/**
 * The step of connecting that failed: `network` until TCP is connected, `tls` until the handshake is done, `startup` until the
 * server accepts commands.
 */
export type ConnectPhase = 'network' | 'tls' | 'startup';

/**
 * Error codes of this program, in addition to the codes of the server (SQLSTATE, or the first word of a Redis error) and of the
 * operating system.
 */
export const clientErrorCodes = {
  /** The server does not support TLS on this port. */
  noTls: 'NO_TLS',
  /** The server requires TLS, but the connection was made without TLS. */
  onlyTls: 'ONLY_TLS',
  /** The TLS handshake or the certificate check failed. */
  tls: 'TLS',
  /** The server requires a password, but the user gave none. */
  noPassword: 'NO_PASSWORD',
  /** The server requires an authentication method other than a password. */
  authentication: 'AUTHENTICATION',
  /** The server requests the password in clear text over a connection whose server was not authenticated. */
  cleartextPassword: 'CLEARTEXT_PASSWORD',
  /** The server requests a SCRAM proof with so few iterations that its recipient could try passwords quickly. */
  weakScram: 'WEAK_SCRAM',
  /** The server completed the authentication without proving that it knows the password. */
  serverProof: 'SERVER_PROOF',
  /**
   * The password proof was bound to a certificate other than the server's, so another machine between client and server
   * terminates the TLS connection.
   */
  channelBinding: 'CHANNEL_BINDING',
  /** The response does not follow the protocol of the database. */
  protocol: 'PROTOCOL',
  /** The responses of all sessions together exceed the memory limit, even if no single response does. */
  memory: 'MEMORY',
  maxClients: 'MAXCLIENTS',
  timeout: 'ETIMEDOUT',
  closed: 'ECONNRESET',
  /** The caller aborted the database operation with its signal. */
  aborted: 'ABORTED',
} as const;

/** The error for a connection to a database server that could not be established. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly phase: ConnectPhase;
  /** An error code of the server or the operating system, or one of `clientErrorCodes`. */
  readonly code: string;
  /** The negotiated TLS parameters if the server refused the connection later; undefined if no TLS handshake was completed. */
  readonly tls: TlsInfo | undefined;

  constructor(phase: ConnectPhase, code: string, message: string, tls?: TlsInfo) {
    super(message);
    this.phase = phase;
    this.code = code;
    this.tls = tls;
  }
}

/** The error for a statement or command that returned no result. */
export class DatabaseError extends Error {
  /** An error code of the server or the operating system, or one of `clientErrorCodes`. */
  readonly code: string;
  /** Whether the database session can no longer be used. */
  readonly lost: boolean;

  constructor(code: string, message: string, lost: boolean) {
    super(message);
    this.code = code;
    this.lost = lost;
  }
}

export const tlsHandshakeClosed = 'the connection was closed during the TLS handshake';

/** The reason of a failed TLS handshake. OpenSSL adds the names of its function and source file to the reason. */
export function tlsErrorReason(error: unknown): string {
  const parts = typeof error === 'object' && error !== null ? error : {};
  const reason = 'reason' in parts ? parts.reason : 'message' in parts ? parts.message : error;
  const text = sanitizeLine(String(reason));
  return /:SSL routines:[^:]*:([^:]+):/.exec(text)?.[1] ?? text;
}
