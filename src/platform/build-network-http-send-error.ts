import { sanitizeLine } from '../base/sanitize.ts';
import { HttpSendError } from './http-sender.ts';

/**
 * The error for a failed network connection. The error has a message of this program, because the messages of libraries can
 * contain URLs with secrets.
 */
export function buildNetworkHttpSendError(error: Error, what: string): HttpSendError {
  const code = readErrorCode(error);
  if (syscallOf(error) === 'getaddrinfo') {
    return new HttpSendError(
      'name',
      false,
      `${what}: ${code === 'EAI_AGAIN' ? 'the name server does not respond' : 'the host name does not exist'}`,
    );
  }
  const kind = code === 'ECONNREFUSED' ? 'refused' : code === 'ETIMEDOUT' ? 'timeout' : 'connection';
  return new HttpSendError(kind, false, `${what}: ${describeConnectionErrorCode(code)}`);
}

/** The error for a failed TLS handshake or an untrusted certificate, before which no part of the request was sent. */
export function buildTlsHttpSendError(error: Error, what: string): HttpSendError {
  if (
    readErrorCode(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    readErrorCode(error) === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  ) {
    return new HttpSendError('tls', false, `${what}: the server does not speak TLS on this port`, { noTls: true });
  }
  if (unknownIssuerCodes.has(readErrorCode(error) ?? ''))
    return new HttpSendError(
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
  return new HttpSendError('tls', false, `${what}: ${reason}`);
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
export function describeConnectionErrorCode(code: string | undefined): string {
  return (
    (code === undefined ? undefined : reasons[code]) ?? `the connection failed${code === undefined ? '' : ` (${code})`}`
  );
}

/** The reason why a response is incomplete. */
export function describeIncompleteResponse(error: unknown): string {
  const [name, message] = error instanceof Error ? [error.name, error.message] : ['', ''];
  if (name === 'HTTPParserError') return 'the response violates the HTTP protocol';
  // For an unexpected 100 Continue, undici closes the connection itself and reports the same error code as for a closed
  // connection.
  if (message === 'bad response') return 'the server sent an unexpected 100 Continue';
  return describeConnectionErrorCode(readErrorCode(error));
}

const reasons: Readonly<Record<string, string>> = {
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
