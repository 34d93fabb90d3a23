import { systemErrorCode, systemErrorReason } from '../platform/network-failure.ts';
import { sanitizeRemoteText } from '../platform/sanitize-remote-text.ts';
import type { RedisSource } from './source.ts';

/** How far a connection came: `network` up to TCP, `tls` up to the handshake, `startup` until the server took a command. */
export type ConnectPhase = 'network' | 'tls' | 'startup';

/** Codes of ours, beside the first word of a server's error (NOAUTH, WRONGPASS, DENIED) and those of the operating system. */
export const connectErrorCodes = {
  /** A handshake or a certificate failed. */
  tls: 'TLS',
  /** TLS was spoken to a server that does not. */
  noTls: 'NO_TLS',
  /** TLS is spoken by the server, and we did not. */
  onlyTls: 'ONLY_TLS',
  /** What answered is no Redis. */
  protocol: 'PROTOCOL',
  maxClients: 'MAXCLIENTS',
  timeout: 'ETIMEDOUT',
  closed: 'ECONNRESET',
  aborted: 'ABORTED',
} as const;

/** Why no session came about. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly phase: ConnectPhase;
  /** The first word of the server's error, a code of the operating system, or one of `ownCodes`. */
  readonly code: string;

  constructor(phase: ConnectPhase, code: string, message: string) {
    super(message);
    this.phase = phase;
    this.code = code;
  }
}

/** Why a command has no reply. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** The first word of the server's error (NOPERM, LOADING, ERR), or one of `ownCodes`. */
  readonly code: string;
  /** The session is gone with it. */
  readonly lost: boolean;

  constructor(code: string, message: string, lost: boolean) {
    super(message);
    this.code = code;
    this.lost = lost;
  }
}

/** `NOAUTH` of `NOAUTH Authentication required.`; `ERR` when there is no such word. */
export function errorCodeOf(message: string): string {
  if (/max number of clients/i.test(message)) return connectErrorCodes.maxClients;
  return /^[A-Z][A-Z_0-9]+(?=\s|$)/.exec(message)?.[0] ?? 'ERR';
}

/** The server's words without the password: a server that does not know AUTH quotes what it was given. */
export function redactServerMessage(text: string, source: RedisSource): string {
  const password = source.password?.reveal() ?? '';
  const cut = text.replace(/,? with args beginning with.*$/s, '');
  return sanitizeRemoteText(password.length < 4 ? cut : cut.replaceAll(password, '[secret]'));
}

/** The words are ours: those of the libraries can carry addresses with secrets. */
export function toRedisConnectError(phase: ConnectPhase, error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DOMException) return new ConnectError(phase, connectErrorCodes.aborted, abortReason(error));
  const code = systemErrorCode(error) ?? connectErrorCodes.closed;
  if (phase === 'network' && /^(ENOTFOUND|EAI_)/.test(code)) {
    return new ConnectError(phase, code, 'the host name is unknown');
  }
  // OpenSSL speaks up whenever it is read from, so a certificate that the server misses is only told later.
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO' || phase === 'tls') return tlsError(code, error);
  return new ConnectError(phase, code, systemErrorReason(code));
}

/** A signal ended it: the deadline, or the person. */
export function abortReason(error: DOMException): string {
  return error.name === 'TimeoutError' ? 'no answer before the deadline' : 'it was cancelled';
}

function tlsError(code: string, error: unknown): ConnectError {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new ConnectError(
      'tls',
      connectErrorCodes.noTls,
      'the server does not speak TLS on this port (wrong version number)',
    );
  }
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' || code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE') {
    return new ConnectError(
      'tls',
      connectErrorCodes.tls,
      'the server asks for a client certificate (tls-auth-clients)',
    );
  }
  if (code === connectErrorCodes.closed) {
    return new ConnectError('tls', connectErrorCodes.tls, 'the connection was closed during the TLS handshake');
  }
  const words =
    error instanceof Error ? sanitizeRemoteText('reason' in error ? String(error.reason) : error.message) : code;
  return new ConnectError('tls', connectErrorCodes.tls, words);
}
