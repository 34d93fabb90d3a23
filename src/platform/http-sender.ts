/**
 * Sends one HTTP request and never follows redirects. The types contain only strings, so that any implementation of `fetch` can
 * be used.
 */
export type HttpSender = (url: string, init: HttpRequestInit) => Promise<HttpResponse>;

export interface HttpRequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Aborted at the deadline of the request, which includes reading the response body. */
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type HttpSendErrorKind = 'name' | 'refused' | 'tls' | 'timeout' | 'aborted' | 'connection';

export type HttpSendErrorDetails = Partial<Pick<HttpSendError, 'noTls' | 'unknownIssuer' | 'atProxy' | 'hint'>>;

/**
 * The error for a request to which no complete response was received. `sent` is true if the dispatcher had begun to send the
 * request; only if it is false, a retry is safe.
 */
export class HttpSendError extends Error {
  override readonly name = 'SendError';
  readonly kind: HttpSendErrorKind;
  readonly sent: boolean;
  /** For the error code `tls`: the server does not support TLS on this port. */
  readonly noTls: boolean;
  /** For the error code `tls`: the certificate is not issued by a trusted CA. */
  readonly unknownIssuer: boolean;
  /** Whether the proxy failed, so that the server was not reached. */
  readonly atProxy: boolean;
  /** What helps whatever the request was for, where a variable of the environment is the cause. */
  readonly hint: string | undefined;

  constructor(kind: HttpSendErrorKind, sent: boolean, message: string, more: HttpSendErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.sent = sent;
    this.noTls = more.noTls ?? false;
    this.unknownIssuer = more.unknownIssuer ?? false;
    this.atProxy = more.atProxy ?? false;
    this.hint = more.hint;
  }

  /** Whether the next attempt fails as well; a proxy may lock an account after a few wrong passwords. */
  get isFinal(): boolean {
    return this.kind === 'tls' || this.hint !== undefined;
  }
}

/** The error code for the user; every HttpSendError has exit code 6. */
export function getCliNetworkErrorCode({ kind }: HttpSendError): 'tls' | 'timeout' | 'unreachable' {
  return kind === 'tls' || kind === 'timeout' ? kind : 'unreachable';
}
