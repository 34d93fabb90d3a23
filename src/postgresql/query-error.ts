import { isRecord, stringField } from '../json.ts';
import {
  ConnectError,
  type ConnectPhase,
  closedDuringHandshake,
  connectErrorCodes,
  DatabaseError,
  tlsErrorReason,
} from '../platform/connect-error.ts';
import { systemErrorReason } from '../platform/network-failure.ts';
import type { TlsConnectionInfo } from '../platform/tls-session.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';

/** The reason why a statement has no result. `code` is an SQLSTATE if the server rejected the statement. */
export class QueryError extends DatabaseError {
  override readonly name = 'QueryError';
}

/** The phase in which a connection failed. */
export interface ConnectStep {
  readonly phase: ConnectPhase;
  readonly tls: TlsConnectionInfo | undefined;
  /** Whether the server had sent any bytes. */
  readonly answered: boolean;
}

/** @param limit time limit of the connection in milliseconds */
export function toConnectError(error: unknown, { phase, tls, answered }: ConnectStep, limit: number): ConnectError {
  const { code, message: said, server } = read(error, limit);
  const isUnfinished = code === connectErrorCodes.timeout || code === connectErrorCodes.aborted;
  const when = code === connectErrorCodes.timeout ? `within ${limit / 1000} s` : 'before the deadline';
  const message = isUnfinished && !server && phase !== 'network' ? unfinishedLogin(phase, answered, when) : said;
  if (server || phase !== 'tls' || code === connectErrorCodes.timeout || code === connectErrorCodes.aborted) {
    return new ConnectError(phase, code ?? connectErrorCodes.protocol, message, tls);
  }
  const known = tlsAnswers[message];
  if (known !== undefined) return new ConnectError('tls', known.code, known.message);
  const closed = code === connectErrorCodes.closed;
  return new ConnectError('tls', connectErrorCodes.tls, closed ? closedDuringHandshake : tlsErrorReason(error));
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
    code: connectErrorCodes.noTls,
    message: 'The server does not support SSL connections',
  },
  'There was an error establishing an SSL connection': {
    code: connectErrorCodes.protocol,
    message: 'the response is not of the PostgreSQL protocol',
  },
};

export function toQueryError(error: unknown, limit: number): QueryError {
  const { code, message, server } = read(error, limit);
  return new QueryError(code ?? connectErrorCodes.protocol, message, !server || ends(error));
}

/** `server`: the message is from the server, and `code` is its SQLSTATE. */
function read(error: unknown, limit: number): { code: string | undefined; message: string; server: boolean } {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { code: connectErrorCodes.timeout, message: `no answer within ${limit / 1000} s`, server: false };
  }
  if (error instanceof DOMException && error.name === 'AbortError') {
    return {
      code: connectErrorCodes.aborted,
      message: 'the deadline passed before the server answered',
      server: false,
    };
  }
  if (error instanceof ConnectError) return { code: error.code, message: error.message, server: false };
  const parts = isRecord(error) ? error : {};
  const code = stringField(parts, 'code');
  const message = stringField(parts, 'message') ?? String(error);
  if (stringField(parts, 'severity') !== undefined) return { code, message: sanitizeLine(message), server: true };
  if (message.startsWith('Connection terminated')) {
    return { code: connectErrorCodes.closed, message: systemErrorReason(connectErrorCodes.closed), server: false };
  }
  // If the connections to several addresses failed, only the last error is reported.
  const [first] = Array.isArray(parts.errors) ? parts.errors.slice(-1) : [];
  if (first !== undefined) return read(first, limit);
  if (/Unknown authenticationOk message|^SASL: Only mechanism/.test(message)) {
    return {
      code: connectErrorCodes.authentication,
      message: 'it asks for an authentication other than a password',
      server: false,
    };
  }
  return {
    code,
    message: code === undefined ? sanitizeLine(message.replace(/^Error: /, '')) : systemErrorReason(code),
    server: false,
  };
}

/** Removes the severity FATAL, in any language of the server, because the code has the same meaning. */
function ends(error: unknown): boolean {
  if (!isRecord(error)) return true;
  const severity = stringField(error, 'severity');
  const code = stringField(error, 'code') ?? '';
  return severity === 'FATAL' || severity === 'PANIC' || /^(57P0|25P0[34])/.test(code);
}
