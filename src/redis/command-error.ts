import {
  ConnectError,
  type ConnectPhase,
  closedDuringHandshake,
  connectErrorCodes,
  DatabaseError,
  tlsErrorReason,
} from '../platform/connect-error.ts';
import { systemErrorCode, systemErrorReason } from '../platform/network-failure.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';
import type { RedisSource } from './source.ts';

/**
 * The reason why a Redis command has no reply. `code` is the first word of the error (NOPERM, LOADING, ERR) if the
 * server rejected the command.
 */
export class CommandError extends DatabaseError {
  override readonly name = 'CommandError';
}

/** The error code in an error reply: `NOAUTH` of `NOAUTH Authentication required.`; `ERR` if the reply has none. */
export function errorCodeOf(message: string): string {
  if (/max number of clients/i.test(message)) return connectErrorCodes.maxClients;
  return /^[A-Z][A-Z_0-9]+(?=\s|$)/.exec(message)?.[0] ?? 'ERR';
}

/** A message of the server without the password: a server without AUTH quotes its arguments in the error. */
export function redactServerMessage(text: string, source: RedisSource): string {
  const password = source.password?.reveal() ?? '';
  const cut = text.replace(/,? with args beginning with.*$/s, '');
  return sanitizeLine(password.length < 4 ? cut : cut.replaceAll(password, '[secret]'));
}

/** Error messages of libraries are not used, because they can contain a URL with a password. */
export function toRedisConnectError(phase: ConnectPhase, error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DOMException) return new ConnectError(phase, connectErrorCodes.aborted, abortReason(error));
  const code = systemErrorCode(error) ?? connectErrorCodes.closed;
  if (phase === 'network' && /^(ENOTFOUND|EAI_)/.test(code)) {
    return new ConnectError(phase, code, 'the host name is unknown');
  }
  // OpenSSL reports an error on the next read, so the error for a missing client certificate may appear after the
  // handshake.
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO' || phase === 'tls') return tlsError(code, error);
  return new ConnectError(phase, code, systemErrorReason(code));
}

/** Why a signal aborted the command: the deadline of the run, or the user. */
export function abortReason(error: DOMException): string {
  return error.name === 'TimeoutError' ? 'no response before the deadline' : 'cancelled';
}

export const clientCertificateRequired = 'the server requires a client certificate (tls-auth-clients)';

function tlsError(code: string, error: unknown): ConnectError {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new ConnectError(
      'tls',
      connectErrorCodes.noTls,
      'the server does not support TLS on this port (wrong version number)',
    );
  }
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' || code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE') {
    return new ConnectError('tls', connectErrorCodes.tls, clientCertificateRequired);
  }
  if (code === connectErrorCodes.closed) {
    return new ConnectError('tls', connectErrorCodes.tls, closedDuringHandshake);
  }
  return new ConnectError('tls', connectErrorCodes.tls, tlsErrorReason(error));
}
