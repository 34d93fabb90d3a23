/** One HTTP request. Strings only, so that any fetch can stand behind it. Redirects are never followed. */
export type Send = (url: string, init: SendInit) => Promise<Answer>;

export interface SendInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The overall deadline of the request, body included. */
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type SendFailure = 'name' | 'refused' | 'tls' | 'timeout' | 'aborted' | 'connection';

export type SendFacts = Partial<Pick<SendError, 'noTls' | 'atProxy'>>;

/** No complete answer came. `sent` tells whether the dispatcher ever started the request: only `false` makes another try safe. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly kind: SendFailure;
  readonly sent: boolean;
  /** With `tls`: the server answered, but does not speak TLS on this port. */
  readonly noTls: boolean;
  /** It was the proxy of the environment that failed; the server was not reached at all. */
  readonly atProxy: boolean;

  constructor(kind: SendFailure, sent: boolean, message: string, more: SendFacts = {}) {
    super(message);
    this.kind = kind;
    this.sent = sent;
    this.noTls = more.noTls ?? false;
    this.atProxy = more.atProxy ?? false;
  }
}

/** The error code a user meets for it; every one is exit 6. */
export function failureCode({ kind }: SendError): 'tls' | 'timeout' | 'unreachable' {
  return kind === 'tls' || kind === 'timeout' ? kind : 'unreachable';
}
