import { setMaxListeners } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { programVersion } from '../base/version.ts';
import type { HttpRequestInit, HttpResponse } from './http-sender.ts';

/** A response with a decompressed body; the body is null where the method or the status allows none. */
export type DecompressedResponse = Pick<HttpResponse, 'status' | 'headers' | 'body'>;

export interface HttpDispatchAttempt {
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
export function sendHttpRequestOnce(
  dispatcher: Dispatcher,
  url: URL,
  init: HttpRequestInit,
  attempt: HttpDispatchAttempt,
): Promise<DecompressedResponse> {
  const { method, headers, body: content = null, signal } = init;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    requireSendable(url, init);
    let started: Dispatcher.DispatchController | undefined;
    let body: Readable | undefined;
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
      body?.destroy(error);
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
          body: body === undefined ? null : read(body, textOf(received['content-encoding']), attempt),
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
function requireSendable({ username, password }: URL, { method, body }: HttpRequestInit): void {
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
  // An error before the first read is kept for the reader; without a listener it would end the process.
  return stream.on('error', () => {});
}

async function* read(
  body: Readable,
  encoding: string | null,
  { failure, done }: HttpDispatchAttempt,
): AsyncGenerator<Uint8Array> {
  const decompressor = decompressors.get(encoding?.toLowerCase());
  try {
    if (decompressor === undefined) yield* body;
    else {
      // Loaded on demand: most calls receive nothing that is compressed.
      const zlib = await import('node:zlib');
      // The callback ignores the error, because reading the stream throws the same error.
      yield* pipeline(body, zlib[decompressor](), () => {});
    }
  } catch (error) {
    throw failure(error);
  } finally {
    await done();
  }
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
