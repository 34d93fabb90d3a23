/** One HTTP request. Strings only, so that any fetch can stand behind it. Redirects are never followed. */
export type HttpSender = (url: string, init: HttpRequestInit) => Promise<HttpResponse>;

export interface HttpRequestInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The overall deadline of the request, body included. */
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

/** No complete answer came. `sent` tells whether the dispatcher ever started the request: only `false` makes another try safe. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly kind: SendErrorKind;
  readonly sent: boolean;
  /** With `tls`: the server answered, but does not speak TLS on this port. */
  readonly noTls: boolean;
  /** It was the proxy of the environment that failed; the server was not reached at all. */
  readonly atProxy: boolean;

  constructor(kind: SendErrorKind, sent: boolean, message: string, more: SendErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.sent = sent;
    this.noTls = more.noTls ?? false;
    this.atProxy = more.atProxy ?? false;
  }
}

/** The error code a user meets for it; every one is exit 6. */
export function sendErrorCode({ kind }: SendError): 'tls' | 'timeout' | 'unreachable' {
  return kind === 'tls' || kind === 'timeout' ? kind : 'unreachable';
}
