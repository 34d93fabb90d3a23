import { setMaxListeners } from 'node:events';
import { Readable, type Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { programVersion } from '../base/version.ts';
import type { HttpInit, HttpResponse } from './http-sender.ts';

/** A response with a decompressed body; the body is null where the method or the status allows none. */
export type DecompressedResponse = Pick<HttpResponse, 'status' | 'headers' | 'body'>;

export interface DispatchAttempt {
  /**
   * Whether undici has begun to write the request. Error codes do not show whether a request was sent, because each code occurs
   * both before and after sending.
   */
  sent: boolean;
  /** Converts an error of the HTTP connection to the error that the reader of the body receives. */
  readonly failure: (error: unknown) => Error;
  /** Called once after the last chunk was read; the reader of the body waits for the returned promise. */
  readonly done: () => Promise<void>;
}

/**
 * Sends one HTTP request, without retries and without following redirects. `request` of undici does not tell when it begins to
 * write, and rejects an aborted request only when the connection exists; its handler does both.
 */
export function sendOnce(
  dispatcher: Dispatcher,
  url: URL,
  init: HttpInit,
  attempt: DispatchAttempt,
): Promise<DecompressedResponse> {
  const { method, headers, body: content = null, signal } = init;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    requireSendable(url, init);
    let started: Dispatcher.DispatchController | undefined;
    let body: Readable | undefined;
    let failed: Error | undefined;
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
      failed ??= error;
      // Its reader gets what has arrived, which may be the only copy of a token, and then the error.
      body?.push(null);
    };
    const abort = (): void => {
      fail(signal.reason);
      started?.abort(signal.reason);
    };
    // Node warns about more than ten listeners; up to 32 requests of a batch share a signal.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        if (signal.aborted) return controller.abort(signal.reason);
        attempt.sent = true;
        started = controller;
      },
      onResponseStart(controller, status, received) {
        if (status < 200) return;
        const hasBody = method !== 'HEAD' && status !== 204;
        if (hasBody) body = bodyStream(controller);
        resolve({
          status,
          headers: { get: (name) => textOf(received[name.toLowerCase()]) },
          body: body === undefined ? null : read(body, textOf(received['content-encoding']), attempt, () => failed),
        });
      },
      onResponseData(controller, chunk) {
        if (body?.push(chunk) === false) controller.pause();
      },
      onResponseEnd() {
        signal.removeEventListener('abort', abort);
        body?.push(null);
      },
      onResponseError: (_, error) => fail(error),
    };
    const { origin, pathname, search } = url;
    const path = `${pathname}${search}`;
    dispatcher.dispatch({ origin, path, method, headers: { ...defaultHeaders, ...headers }, body: content }, handler);
  });
}

const defaultHeaders = { 'accept-encoding': 'gzip', 'user-agent': `cloudctl/${programVersion}` };

/**
 * Refuses requests that `fetch` refuses, but that a dispatcher would send incompletely or unsafely. The message of the thrown
 * error is replaced in undici-sender.ts.
 */
function requireSendable({ username, password }: URL, { method, body }: HttpInit): void {
  if (username !== '' || password !== '') throw new TypeError('the URL contains a user name');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

/** A stream that stops the server while its reader is slow, and closes the connection when its reader leaves. */
function bodyStream(controller: Dispatcher.DispatchController): Readable {
  const stream = new Readable({
    read: () => controller.resume(),
    destroy(error, done) {
      // Has no effect on a response that is complete.
      controller.abort(error ?? new Error('the rest of the body is not read'));
      done(error);
    },
  });
  // The reader gets the error too; without a listener it would end the process.
  return stream.on('error', () => {});
}

async function* read(
  body: Readable,
  encoding: string | null,
  { failure, done }: DispatchAttempt,
  failed: () => Error | undefined,
): AsyncGenerator<Uint8Array> {
  const decompressor = decompressors.get(encoding?.trim().toLowerCase());
  try {
    if (decompressor === undefined) {
      yield* body;
      throwFailed(failed);
    }
    // Loaded on demand: most calls receive nothing that is compressed.
    else yield* decompress(body, (await import('node:zlib'))[decompressor](), failed);
  } catch (error) {
    throw failure(error);
  } finally {
    await done();
  }
}

/**
 * Yields all that can be decompressed before it throws: a pipeline would lose what is decompressed and not yet read when
 * the connection fails or the compressed data end too early.
 */
async function* decompress(
  body: Readable,
  stream: Transform,
  failed: () => Error | undefined,
): AsyncGenerator<Uint8Array> {
  let wake = (): void => {};
  for (const event of ['readable', 'end', 'error']) stream.on(event, () => wake());
  async function* outputOf(start: (done: () => void) => void): AsyncGenerator<Uint8Array> {
    let isDone = false;
    start(() => {
      isDone = true;
      wake();
    });
    for (;;) {
      const chunk: Uint8Array | null = stream.read();
      if (chunk !== null) yield chunk;
      else if (stream.errored !== null) throw stream.errored;
      else if (isDone || stream.readableEnded) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  try {
    for await (const chunk of body) {
      // The end of the output is known a moment after the last write.
      yield* outputOf((done) => void stream.write(chunk, () => setImmediate(done)));
      // What follows the end of the compressed data is not read.
      if (stream.readableEnded) return;
    }
    throwFailed(failed);
    // The callback of `end` is called before the error of data that end too early; the output ends after it.
    yield* outputOf(() => void stream.end());
  } finally {
    stream.destroy();
  }
}

function throwFailed(failed: () => Error | undefined): void {
  const error = failed();
  if (error !== undefined) throw error;
}

/**
 * Content codings (RFC 9110 §8.4.1). Only gzip is requested, but other codings are decoded too, because a response may contain
 * the only copy of a refresh token.
 */
const decompressors = new Map<string | undefined, 'createGunzip' | 'createInflate' | 'createBrotliDecompress'>([
  ['gzip', 'createGunzip'],
  ['x-gzip', 'createGunzip'],
  ['deflate', 'createInflate'],
  ['br', 'createBrotliDecompress'],
]);

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}
