/** Sends one HTTP request; never follows redirects. Only strings, so that any fetch can implement it. */
export type HttpSender = (url: string, init: HttpRequestInit) => Promise<HttpResponse>;

export interface HttpRequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The deadline of the request, including the response body. */
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type SendErrorKind = 'name' | 'refused' | 'tls' | 'timeout' | 'aborted' | 'connection';

export type SendErrorDetails = Partial<Pick<SendError, 'noTls' | 'atProxy'>>;

/** No complete response was received. `sent`: the dispatcher has started the request; only with `false` a retry is safe. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly kind: SendErrorKind;
  readonly sent: boolean;
  /** With `tls`: the server does not support TLS on this port. */
  readonly noTls: boolean;
  /** The proxy failed; the server was not reached. */
  readonly atProxy: boolean;

  constructor(kind: SendErrorKind, sent: boolean, message: string, more: SendErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.sent = sent;
    this.noTls = more.noTls ?? false;
    this.atProxy = more.atProxy ?? false;
  }
}

/** The error code for the user; all have exit code 6. */
export function sendErrorCode({ kind }: SendError): 'tls' | 'timeout' | 'unreachable' {
  return kind === 'tls' || kind === 'timeout' ? kind : 'unreachable';
}
