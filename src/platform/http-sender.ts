/**
 * Sends one HTTP request and never follows redirects. The types contain only strings, so that any implementation of `fetch` can
 * be used.
 */
export type HttpSender = (url: string, init: HttpInit) => Promise<HttpResponse>;

export interface HttpInit {
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

type HttpSendErrorKind = 'name' | 'refused' | 'tls' | 'timeout' | 'aborted' | 'connection';

type HttpSendErrorDetails = Partial<Pick<SendError, 'noTls' | 'unknownIssuer' | 'atProxy' | 'hint'>>;

/**
 * The error for a request to which no complete response was received. `sent` is true if the dispatcher had begun to send the
 * request; only if it is false, a retry is safe.
 */
export class SendError extends Error {
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

/** The error code for the user; every SendError has exit code 6. */
export function networkCode({ kind }: SendError): 'tls' | 'timeout' | 'unreachable' {
  return kind === 'tls' || kind === 'timeout' ? kind : 'unreachable';
}

/** A complete, decompressed response body, whose chunks are joined on first use. */
export interface BufferedBody {
  /** The length of the body in bytes. */
  readonly size: number;
  readonly bytes: () => Buffer;
  /** Returns the last `length` bytes of the body, or the whole body if it is shorter. */
  readonly end: (length: number) => Buffer;
}

/** Reads a response body of at most `limit` bytes; returns undefined when the body is longer. */
export async function bufferBody({ body }: HttpResponse, limit: number): Promise<BufferedBody | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream of the response body.
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return bufferedBody(chunks);
}

/** Reads a response body of at most `limit` bytes and decodes it as UTF-8. */
export async function readBody(answer: HttpResponse, limit: number): Promise<string | undefined> {
  return (await bufferBody(answer, limit))?.bytes().toString('utf8');
}

export function bufferedBody(chunks: readonly Uint8Array[]): BufferedBody {
  const size = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let parts = chunks;
  const joined = (): Buffer => {
    const [only] = parts;
    if (parts.length === 1 && Buffer.isBuffer(only)) return only;
    const whole = Buffer.concat(parts, size);
    parts = [whole];
    return whole;
  };
  return {
    size,
    bytes: joined,
    end(length) {
      const last = parts.at(-1) ?? new Uint8Array();
      const bytes = last.byteLength < length ? joined() : Buffer.from(last.buffer, last.byteOffset, last.byteLength);
      return bytes.subarray(Math.max(0, bytes.length - length));
    },
  };
}
