import type { Dispatcher } from 'undici';
import { version } from '../version.ts';
import { type AbortObserver, observeAbort, unobserveAbort } from './abort-observer.ts';
import type { HttpRequestInit, HttpResponse } from './http-sender.ts';
import { type BodyReadHandler, createResponseBodyStream, type ResponseBodyStream } from './response-body-stream.ts';

/** An answer whose body, null where there can be none, is not compressed any more. */
export type DecodedResponse = Pick<HttpResponse, 'status' | 'headers' | 'body'>;

export interface DispatchAttempt extends BodyReadHandler {
  /** Whether undici ever began to write the request: no error code tells that, since all of them occur on both sides of it. */
  sent: boolean;
}

/**
 * One request and its answer as fetch has them, and sent once whatever is answered. Not by fetch itself, nor by undici's own
 * `request`: their streams cost more than all else on the way of an answer.
 */
export function dispatchRequest(
  dispatcher: Dispatcher,
  url: URL,
  init: HttpRequestInit,
  attempt: DispatchAttempt,
): Promise<DecodedResponse> {
  const { method, headers, body = null, signal } = init;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    requireSendable(url, init);
    const passage: RequestInProgress = {
      method,
      signal,
      attempt,
      resolve,
      reject,
      controller: undefined,
      bodyStream: undefined,
      onAbort,
      onRequestStart,
      onResponseStart,
      onResponseData,
      onResponseEnd,
      onResponseError,
    };
    observeAbort(signal, passage);
    const { origin, path } = targetOf(url);
    dispatcher.dispatch({ origin, path, method, headers: withDefaultHeaders(headers), body }, passage);
  });
}

/** A request on its way. Its functions are the same for all and take it as `this`: thousands go in a second, and a closure for each costs more. */
interface RequestInProgress extends AbortObserver, Dispatcher.DispatchHandler {
  readonly method: string;
  readonly signal: AbortSignal;
  readonly attempt: DispatchAttempt;
  readonly resolve: (response: DecodedResponse) => void;
  readonly reject: (error: unknown) => void;
  controller: Dispatcher.DispatchController | undefined;
  bodyStream: ResponseBodyStream | undefined;
}

/** A dispatcher that still waits for a connection is not waited for: a deadline holds there as well. */
function onAbort(this: RequestInProgress): void {
  fail(this, this.signal.reason);
  this.controller?.abort(this.signal.reason);
}

function onRequestStart(this: RequestInProgress, controller: Dispatcher.DispatchController): void {
  this.attempt.sent = true;
  this.controller = controller;
  if (this.signal.aborted) controller.abort(this.signal.reason);
}

function onResponseStart(
  this: RequestInProgress,
  controller: Dispatcher.DispatchController,
  status: number,
  headers: Headers,
): void {
  if (status < 200) return;
  let body: HttpResponse['body'] = null;
  if (this.method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304) {
    const unpacker = decompressors.get(textOf(headers['content-encoding'])?.trim().toLowerCase());
    this.bodyStream = createResponseBodyStream(
      controller,
      unpacker === undefined ? this.attempt : compressedBodyHandler,
    );
    body = unpacker === undefined ? this.bodyStream.chunks : decompress(unpacker, this.bodyStream, this.attempt);
  }
  this.resolve({ status, headers: { get: (name) => textOf(headers[name.toLowerCase()]) }, body });
}

function onResponseData(this: RequestInProgress, _: unknown, chunk: Uint8Array): void {
  this.bodyStream?.push(chunk);
}

function onResponseEnd(this: RequestInProgress): void {
  unobserveAbort(this.signal, this);
  this.bodyStream?.end();
}

function onResponseError(this: RequestInProgress, _: unknown, error: Error): void {
  fail(this, error);
}

function fail(passage: RequestInProgress, error: unknown): void {
  unobserveAbort(passage.signal, passage);
  passage.reject(error);
  passage.bodyStream?.fail(error);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** As a dispatcher wants it; thousands of requests go to one address. */
const targets = new WeakMap<URL, Target>();

interface Target {
  readonly origin: string;
  readonly path: string;
}

function targetOf(url: URL): Target {
  const target = targets.get(url) ?? { origin: url.origin, path: `${url.pathname}${url.search}` };
  targets.set(url, target);
  return target;
}

/** What fetch refuses and a dispatcher sends without a word, or leaves out. The words stay here: see network.ts. */
function requireSendable({ username, password }: URL, { method, body }: HttpRequestInit): void {
  if (username !== '' || password !== '') throw new TypeError('the address names a user');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

/** By the names of RFC 9110, 8.4.1. Only gzip is asked for, but an answer that could not be read may hold the only refresh token. */
const decompressors = new Map<string | undefined, Decompressor>([
  ['gzip', 'createGunzip'],
  ['x-gzip', 'createGunzip'],
  ['deflate', 'createInflate'],
  ['br', 'createBrotliDecompress'],
]);

type Decompressor = 'createGunzip' | 'createInflate' | 'createBrotliDecompress';

/** Of bytes that are only on their way to be unpacked. */
const compressedBodyHandler: BodyReadHandler = {
  failure: (error) => (error instanceof Error ? error : new Error(String(error))),
  done: async () => {},
};

async function* decompress(
  unpacker: Decompressor,
  inflow: ResponseBodyStream,
  { failure, done }: BodyReadHandler,
): AsyncGenerator<Uint8Array> {
  const [{ pipeline }, zlib] = await Promise.all([import('node:stream'), import('node:zlib')]);
  try {
    // Whoever reads meets the error itself.
    yield* pipeline(inflow.chunks, zlib[unpacker](), () => {});
  } catch (error) {
    throw failure(error);
  } finally {
    // What was not packed at all may never end by itself.
    inflow.leave();
    await done();
  }
}

/** The headers of every request, joined with those of one; the same ones come with thousands of requests. */
const headersWithDefaults = new WeakMap<HttpRequestInit['headers'], HttpRequestInit['headers']>();

function withDefaultHeaders(headers: HttpRequestInit['headers']): HttpRequestInit['headers'] {
  const all = headersWithDefaults.get(headers) ?? {
    'accept-encoding': 'gzip',
    'user-agent': `cloudctl/${version}`,
    ...headers,
  };
  headersWithDefaults.set(headers, all);
  return all;
}
