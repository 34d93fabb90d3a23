import { cleaned } from '../platform/cleaned.ts';
import { reasonOf } from '../platform/network-failure.ts';
import { isRecord, textOf } from '../json.ts';

/** How far a connection came: `network` up to TCP, `tls` up to the handshake, `startup` until the server was ready for a query. */
export type Phase = 'network' | 'tls' | 'startup';

/** Codes of ours, beside SQLSTATEs and those of the operating system. */
export const ownCodes = {
  /** The server answered that it does not speak TLS. */
  noTls: 'NO_TLS',
  /** A handshake or a certificate failed. */
  tls: 'TLS',
  /** The server asked for a password and there is none. */
  noPassword: 'NO_PASSWORD',
  /** What answered does not speak the protocol, or asks for an authentication we do not know. */
  protocol: 'PROTOCOL',
  timeout: 'ETIMEDOUT',
  closed: 'ECONNRESET',
} as const;

/** Why no session came about. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly phase: Phase;
  /** An SQLSTATE, a code of the operating system or one of `ownCodes`. */
  readonly code: string;

  constructor(phase: Phase, code: string, message: string) {
    super(message);
    this.phase = phase;
    this.code = code;
  }
}

/** Why a query has no answer. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: string;
  /** The session is gone with it. */
  readonly lost: boolean;

  constructor(code: string, message: string, lost: boolean) {
    super(message);
    this.code = code;
    this.lost = lost;
  }
}

/** What the server or the system said, in one line. */
export interface Said {
  readonly code: string | undefined;
  readonly message: string;
  /** The server ended the session with it. */
  readonly fatal: boolean;
}

export function said(error: unknown): Said {
  if (!isRecord(error)) return { code: undefined, message: cleaned(String(error)), fatal: true };
  const code = textOf(error, 'code');
  const severity = textOf(error, 'severity');
  const message = textOf(error, 'message') ?? '';
  return {
    code,
    message: severity === undefined && code !== undefined ? reasonOf(code) : cleaned(message),
    fatal: severity === undefined || severity === 'FATAL' || severity === 'PANIC',
  };
}
