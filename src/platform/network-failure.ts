import { SendError } from './http-sender.ts';
import { sanitizeRemoteText } from './sanitize-remote-text.ts';

/** Why no connection came about. The words are ours: those of the libraries can carry addresses with secrets. */
export function networkFailure(error: Error, what: string): SendError {
  const code = systemErrorCode(error);
  if (syscallOf(error) === 'getaddrinfo') {
    return new SendError(
      'name',
      false,
      `${what}: ${code === 'EAI_AGAIN' ? 'the name service does not answer' : 'the name is unknown'}`,
    );
  }
  const kind = code === 'ECONNREFUSED' ? 'refused' : code === 'ETIMEDOUT' ? 'timeout' : 'connection';
  return new SendError(kind, false, `${what}: ${systemErrorReason(code)}`);
}

/** A handshake that failed, a certificate that is not trusted: nothing of the request has left. */
export function tlsFailure(error: Error, what: string): SendError {
  if (
    systemErrorCode(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    systemErrorCode(error) === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  ) {
    return new SendError('tls', false, `${what}: the server does not speak TLS on this port`, { noTls: true });
  }
  const words = 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
  const reason =
    systemErrorCode(error) === 'ECONNRESET'
      ? 'the connection was closed during the TLS handshake'
      : sanitizeRemoteText(words);
  return new SendError('tls', false, `${what}: ${reason}`);
}

/** Words for an error code of the operating system. */
export function systemErrorReason(code: string | undefined): string {
  return (
    (code === undefined ? undefined : reasons[code]) ?? `the connection failed${code === undefined ? '' : ` (${code})`}`
  );
}

/** Why an answer did not come whole. */
export function incompleteResponseReason(error: unknown): string {
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', ''];
  if (name === 'HTTPParserError') return 'what came breaks the rules of HTTP';
  // undici ends the connection itself then, and calls it by the same code.
  if (message === 'bad response') return 'the server said 100 Continue, which nobody asked for';
  return systemErrorReason(systemErrorCode(error));
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed by the other side',
  UND_ERR_SOCKET: 'the connection was closed by the other side',
  EPIPE: 'the connection was closed by the other side',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EADDRNOTAVAIL: 'the address cannot be reached from here',
};

export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function syscallOf(error: Error): unknown {
  return 'syscall' in error ? error.syscall : undefined;
}
