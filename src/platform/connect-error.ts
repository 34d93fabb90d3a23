import { sanitizeLine } from '../base/sanitize.ts';
import type { TlsConnectionInfo } from './tls-connection-info.ts';

/**
 * The step of connecting that failed: `network` until TCP is connected, `tls` until the handshake is done, `startup` until the
 * server accepts commands.
 */
export type DatabaseConnectPhase = 'network' | 'tls' | 'startup';

/**
 * Error codes of this program, in addition to the codes of the server (SQLSTATE, or the first word of a Redis error) and of the
 * operating system.
 */
export const clientSideDatabaseErrorCodes = {
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
export class DatabaseConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly phase: DatabaseConnectPhase;
  /** An error code of the server or the operating system, or one of `clientSideDatabaseErrorCodes`. */
  readonly code: string;
  /** The negotiated TLS parameters if the server refused the connection later; undefined if no TLS handshake was completed. */
  readonly tls: TlsConnectionInfo | undefined;

  constructor(phase: DatabaseConnectPhase, code: string, message: string, tls?: TlsConnectionInfo) {
    super(message);
    this.phase = phase;
    this.code = code;
    this.tls = tls;
  }
}

/** The error for a statement or command that returned no result. */
export class DatabaseError extends Error {
  /** An error code of the server or the operating system, or one of `clientSideDatabaseErrorCodes`. */
  readonly code: string;
  /** Whether the database session can no longer be used. */
  readonly lost: boolean;

  constructor(code: string, message: string, lost: boolean) {
    super(message);
    this.code = code;
    this.lost = lost;
  }
}

export const closedDuringTlsHandshakeMessage = 'the connection was closed during the TLS handshake';

/** The reason of a failed TLS handshake. OpenSSL adds the names of its function and source file to the reason. */
export function tlsErrorReason(error: unknown): string {
  const parts = typeof error === 'object' && error !== null ? error : {};
  const reason = 'reason' in parts ? parts.reason : 'message' in parts ? parts.message : error;
  const text = sanitizeLine(String(reason));
  return /:SSL routines:[^:]*:([^:]+):/.exec(text)?.[1] ?? text;
}
