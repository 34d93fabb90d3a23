import {
  ConnectError,
  type ConnectPhase,
  closedDuringHandshake,
  connectErrorCodes,
  DatabaseError,
  tlsErrorReason,
} from '../platform/connect-error.ts';
import { systemErrorCode, systemErrorReason } from '../platform/network-failure.ts';
import { sanitizeRemoteText } from '../platform/sanitize-remote-text.ts';
import type { RedisSource } from './source.ts';

/** Why a command has no reply. `code` is the first word of the server's error (NOPERM, LOADING, ERR) when it refused it. */
export class CommandError extends DatabaseError {
  override readonly name = 'CommandError';
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
    return new ConnectError('tls', connectErrorCodes.tls, closedDuringHandshake);
  }
  return new ConnectError('tls', connectErrorCodes.tls, tlsErrorReason(error));
}
