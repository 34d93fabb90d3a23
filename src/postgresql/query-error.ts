import { isJsonRecord, readStringField } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import {
  ConnectError,
  type ConnectPhase,
  clientErrorCodes,
  DatabaseError,
  describeCode,
  type TlsInfo,
  tlsErrorReason,
  tlsHandshakeClosed,
} from '../platform/network-errors.ts';

/** The reason why a statement has no result. `code` is an SQLSTATE if the server rejected the statement. */
export class QueryError extends DatabaseError {
  override readonly name = 'QueryError';
}

/** The phase in which a connection failed. */
interface ConnectFailure {
  readonly phase: ConnectPhase;
  readonly tls: TlsInfo | undefined;
  /** Whether the server had sent any bytes before the error. */
  readonly answered: boolean;
}

/** @param limit time limit of the connection in milliseconds */
export function toConnectError(error: unknown, { phase, tls, answered }: ConnectFailure, limit: number): ConnectError {
  const { code, message: said, server } = read(error, limit);
  const isUnfinished = code === clientErrorCodes.timeout || code === clientErrorCodes.aborted;
  const when = code === clientErrorCodes.timeout ? `within ${limit / 1000} s` : 'before the deadline';
  const message = isUnfinished && !server && phase !== 'network' ? unfinishedLogin(phase, answered, when) : said;
  if (server || phase !== 'tls' || code === clientErrorCodes.timeout || code === clientErrorCodes.aborted) {
    return new ConnectError(phase, code ?? clientErrorCodes.protocol, message, tls);
  }
  const known = tlsAnswers[message];
  if (known !== undefined) return new ConnectError('tls', known.code, known.message);
  const closed = code === clientErrorCodes.closed;
  return new ConnectError('tls', clientErrorCodes.tls, closed ? tlsHandshakeClosed : tlsErrorReason(error));
}

function unfinishedLogin(phase: ConnectPhase, answered: boolean, when: string): string {
  if (answered)
    return `the server answered, but the ${phase === 'tls' ? 'TLS handshake' : 'login'} did not finish ${when}`;
  const packet = phase === 'tls' ? 'the request for TLS (SSLRequest)' : 'the startup packet';
  return `the server accepted the TCP connection but did not answer ${packet} ${when}`;
}

/** The error messages of the package pg for the response to its TLS request (SSLRequest). */
const tlsAnswers: Readonly<Record<string, { readonly code: string; readonly message: string }>> = {
  'The server does not support SSL connections': {
    code: clientErrorCodes.noTls,
    message: 'The server does not support SSL connections',
  },
  'There was an error establishing an SSL connection': {
    code: clientErrorCodes.protocol,
    message: 'the response is not of the PostgreSQL protocol',
  },
};

export function toQueryError(error: unknown, limit: number): QueryError {
  const { code, message, server } = read(error, limit);
  return new QueryError(code ?? clientErrorCodes.protocol, message, !server || ends(error));
}

/** `server`: the message is from the server, and `code` is its SQLSTATE. */
function read(error: unknown, limit: number): { code: string | undefined; message: string; server: boolean } {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: clientErrorCodes.timeout, message: `no answer within ${limit / 1000} s`, server: false };
  }
  if (error instanceof DOMException && error.name === 'AbortError') {
    return {
      code: clientErrorCodes.aborted,
      message: 'the deadline passed before the server answered',
      server: false,
    };
  }
  if (error instanceof ConnectError) return { code: error.code, message: error.message, server: false };
  const parts = isJsonRecord(error) ? error : {};
  const code = readStringField(parts, 'code');
  const message = readStringField(parts, 'message') ?? String(error);
  if (readStringField(parts, 'severity') !== undefined) return { code, message: sanitizeLine(message), server: true };
  if (message.startsWith('Connection terminated')) {
    return {
      code: clientErrorCodes.closed,
      message: describeCode(clientErrorCodes.closed),
      server: false,
    };
  }
  // If the connections to several addresses failed, only the last error is reported.
  const [first] = Array.isArray(parts.errors) ? parts.errors.slice(-1) : [];
  if (first !== undefined) return read(first, limit);
  if (/Unknown authenticationOk message|^SASL: Only mechanism/.test(message)) {
    return {
      code: clientErrorCodes.authentication,
      message: 'it asks for an authentication other than a password',
      server: false,
    };
  }
  return {
    code,
    message: code === undefined ? sanitizeLine(message.replace(/^Error: /, '')) : describeCode(code),
    server: false,
  };
}

/** Removes the severity FATAL, in any language of the server, because the code has the same meaning. */
function ends(error: unknown): boolean {
  if (!isJsonRecord(error)) return true;
  const severity = readStringField(error, 'severity');
  const code = readStringField(error, 'code') ?? '';
  return severity === 'FATAL' || severity === 'PANIC' || /^(57P0|25P0[34])/.test(code);
}
