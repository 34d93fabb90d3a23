import { sanitizeLine } from '../sanitize/terminal-text.ts';
import type { TlsConnectionInfo } from './tls-session.ts';

/** The step that failed: `network` until TCP is connected, `tls` until the handshake is done, `startup` until the server accepts commands. */
export type ConnectPhase = 'network' | 'tls' | 'startup';

/** Codes beside those of the server (SQLSTATE, or the first word of a Redis error) and of the operating system. */
export const connectErrorCodes = {
  /** The server does not support TLS on this port. */
  noTls: 'NO_TLS',
  /** The server requires TLS, and the connection was made without. */
  onlyTls: 'ONLY_TLS',
  /** A TLS handshake or a certificate failed. */
  tls: 'TLS',
  /** The server requires a password and none was given. */
  noPassword: 'NO_PASSWORD',
  /** The server requires an authentication method other than a password. */
  authentication: 'AUTHENTICATION',
  /** The server requests the password in clear text, over a connection on which anyone may have answered. */
  cleartextPassword: 'CLEARTEXT_PASSWORD',
  /** The server ended the authentication without the proof that it knows the password. */
  serverProof: 'SERVER_PROOF',
  /** The password was bound to another certificate than that of the server: somebody in between ends the TLS connection. */
  channelBinding: 'CHANNEL_BINDING',
  /** The response is not of the expected protocol. */
  protocol: 'PROTOCOL',
  /** The responses of several sessions together need too much memory; one of them alone may not. */
  memory: 'MEMORY',
  maxClients: 'MAXCLIENTS',
  timeout: 'ETIMEDOUT',
  closed: 'ECONNRESET',
  /** The signal of the caller aborted it. */
  aborted: 'ABORTED',
} as const;

/** Why a connection to a database server could not be made. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly phase: ConnectPhase;
  /** A code of the server, of the operating system, or one of `connectErrorCodes`. */
  readonly code: string;
  /** What was negotiated before the server refused; undefined: no handshake was finished. */
  readonly tls: TlsConnectionInfo | undefined;

  constructor(phase: ConnectPhase, code: string, message: string, tls?: TlsConnectionInfo) {
    super(message);
    this.phase = phase;
    this.code = code;
    this.tls = tls;
  }
}

/** Why a statement or a command has no result. */
export class DatabaseError extends Error {
  /** A code of the server, of the operating system, or one of `connectErrorCodes`. */
  readonly code: string;
  /** The session cannot be used any more. */
  readonly lost: boolean;

  constructor(code: string, message: string, lost: boolean) {
    super(message);
    this.code = code;
    this.lost = lost;
  }
}

export const closedDuringHandshake = 'the connection was closed during the TLS handshake';

/** The reason of a failed handshake. OpenSSL puts its function and its source file around it. */
export function tlsErrorReason(error: unknown): string {
  const parts = typeof error === 'object' && error !== null ? error : {};
  const reason = 'reason' in parts ? parts.reason : 'message' in parts ? parts.message : error;
  const text = sanitizeLine(String(reason));
  return /:SSL routines:[^:]*:([^:]+):/.exec(text)?.[1] ?? text;
}
