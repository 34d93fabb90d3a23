import { redactServerLine } from '../base/redact.ts';
import {
  ConnectError,
  type ConnectPhase,
  clientErrorCodes,
  DatabaseError,
  describeCode,
  readErrorCode,
  tlsErrorReason,
  tlsHandshakeClosed,
} from '../platform/network-errors.ts';
import type { RedisEndpoint } from './endpoint.ts';

/**
 * The reason why a Redis command has no reply. `code` is the first word of the error (NOPERM, LOADING, ERR) if the
 * server rejected the command.
 */
export class CommandError extends DatabaseError {
  override readonly name = 'CommandError';
}

/** The error code in an error reply: `NOAUTH` of `NOAUTH Authentication required.`; `ERR` if the reply has none. */
export function parseErrorCode(message: string): string {
  if (/max number of clients/i.test(message)) return clientErrorCodes.maxClients;
  return /^[A-Z][A-Z_0-9]+(?=\s|$)/.exec(message)?.[0] ?? 'ERR';
}

/**
 * A message of the server without the password. A server that does not know AUTH repeats the arguments of the command,
 * which include the password, in its error.
 */
export function redactServerMessage(text: string, source: RedisEndpoint): string {
  return redactServerLine(text.replace(/,? with args beginning with.*$/s, ''), [source.password]);
}

/** Error messages of libraries are not used, because they can contain a URL with a password. */
export function toConnectError(phase: ConnectPhase, error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DOMException) return new ConnectError(phase, clientErrorCodes.aborted, describeAbort(error));
  const code = readErrorCode(error) ?? clientErrorCodes.closed;
  // OpenSSL reports an error on the next read, so the error for a missing client certificate may appear after the
  // handshake.
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO' || phase === 'tls') return tlsError(code, error);
  return new ConnectError(phase, code, describeCode(code));
}

/** Why a signal aborted the command: the deadline of the run, or the user. */
export function describeAbort(error: DOMException): string {
  return error.name === 'TimeoutError' ? 'no response before the deadline' : 'cancelled';
}

export const certificateRequiredText = 'the server requires a client certificate (tls-auth-clients)';

function tlsError(code: string, error: unknown): ConnectError {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new ConnectError(
      'tls',
      clientErrorCodes.noTls,
      'the server does not support TLS on this port (wrong version number)',
    );
  }
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' || code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE') {
    return new ConnectError('tls', clientErrorCodes.tls, certificateRequiredText);
  }
  if (code === clientErrorCodes.closed) {
    return new ConnectError('tls', clientErrorCodes.tls, tlsHandshakeClosed);
  }
  return new ConnectError('tls', clientErrorCodes.tls, tlsErrorReason(error));
}
