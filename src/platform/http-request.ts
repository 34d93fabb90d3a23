import type { Dispatcher } from 'undici';
import { programVersion } from '../base/version.ts';
import type { HttpRequestInit, HttpResponse } from './http-sender.ts';

/** An object whose method is called when an AbortSignal is aborted. */
export interface AbortObserver {
  onAbort(): void;
}

interface SignalObservers {
  /**
   * The current observers of the signal. An array is used instead of a Set, because the internal tables of a Set would keep
   * removed observers until the next full garbage collection.
   */
  readonly all: AbortObserver[];
  readonly tell: () => void;
  /** Whether more than one request uses the signal. */
  isShared: boolean;
}

const observedSignals = new WeakMap<AbortSignal, SignalObservers>();

/**
 * Registers an observer of a signal. All observers of a signal share one abort listener: adding and removing a listener takes
 * as long as writing a small request, and Node warns about more than ten listeners.
 */
export function addAbortObserver(signal: AbortSignal, observer: AbortObserver): void {
  const known = observedSignals.get(signal);
  const observed = known ?? createSignalObservers();
  observed.all.push(observer);
  if (observed.isShared) return;
  observed.isShared = known !== undefined;
  observedSignals.set(signal, observed);
  signal.addEventListener('abort', observed.tell, { once: true });
}

export function removeAbortObserver(signal: AbortSignal, observer: AbortObserver): void {
  const observed = observedSignals.get(signal);
  const at = observed?.all.indexOf(observer) ?? -1;
  if (observed === undefined || at === -1) return;
  const { all, tell, isShared } = observed;
  // The last observer of the array takes the place of the removed one.
  const last = all.pop();
  if (last !== undefined && at < all.length) all[at] = last;
  // The abort listener is removed, because it would keep the deadline of a single request in memory until the deadline expires.
  if (all.length === 0 && !isShared) signal.removeEventListener('abort', tell);
}

function createSignalObservers(): SignalObservers {
  const all: AbortObserver[] = [];
  const tell = (): void => {
    for (const one of all.splice(0)) one.onAbort();
  };
  return { all, tell, isShared: false };
}

/** Controls the connection from which the bytes of the response come. */
export interface ResponseFlowControl {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** The body of an HTTP response: the connection adds chunks, and one reader takes them. */
export interface ReceivedResponseBodyStream {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Ends the transfer, even while the reader waits for bytes. */
  leave(): void;
  /** The chunks of the body; ending the iteration ends the transfer. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Handlers for the end of a response body. */
export interface ReceivedResponseBodyEndHandlers {
  /** Converts an error of the HTTP connection to the error that the reader of the body receives. */
  readonly failure: (error: unknown) => Error;
  /** Called once after the last chunk was read; the reader of the body waits for the returned promise. */
  readonly done: () => Promise<void>;
}

/** Number of bytes that are buffered for a slow reader before the connection is paused. */
const maxBufferedBytes = 1024 * 1024;

export function createReceivedResponseBodyStream(
  source: ResponseFlowControl,
  reading: ReceivedResponseBodyEndHandlers,
): ReceivedResponseBodyStream {
  const flow: StreamState = { waiting: [], size: 0, ending: undefined, wake: () => {} };
  const end = (how: StreamEnd): void => {
    flow.ending ??= how;
    flow.wake();
  };
  return {
    push(chunk) {
      flow.waiting.push(chunk);
      flow.size += chunk.byteLength;
      if (flow.size > maxBufferedBytes) source.pause();
      flow.wake();
    },
    end: () => end({}),
    fail: (error) => end({ error }),
    leave() {
      if (flow.ending === undefined) source.abort(new Error('the rest of the body is not read'));
      end({});
    },
    chunks: read(source, flow, reading),
  };
}

interface StreamState {
  readonly waiting: Uint8Array[];
  size: number;
  ending: StreamEnd | undefined;
  wake: () => void;
}

interface StreamEnd {
  readonly error?: unknown;
}

/**
 * The generator function is at module level, because a generator function inside another function gets a new hidden class at
 * every call.
 */
async function* read(
  source: ResponseFlowControl,
  flow: StreamState,
  reading: ReceivedResponseBodyEndHandlers,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const chunk = flow.waiting.shift();
      if (chunk !== undefined) {
        flow.size -= chunk.byteLength;
        yield chunk;
      } else if (flow.ending === undefined) {
        source.resume();
        await new Promise<void>((resolve) => {
          flow.wake = resolve;
        });
      } else if ('error' in flow.ending) throw reading.failure(flow.ending.error);
      else return;
    }
  } finally {
    if (flow.ending === undefined) source.abort(new Error('the rest of the body is not read'));
    await reading.done();
  }
}

/** A response with a decompressed body; the body is null where the method or the status allows none. */
export type DecompressedResponse = Pick<HttpResponse, 'status' | 'headers' | 'body'>;

export interface HttpDispatchAttempt extends ReceivedResponseBodyEndHandlers {
  /**
   * Whether undici has begun to write the request. Error codes do not show whether a request was sent, because each code occurs
   * both before and after sending.
   */
  sent: boolean;
}

/**
 * Sends one HTTP request, without retries and without following redirects. The request uses undici's dispatcher instead of
 * `fetch` or `request`, because their streams take more time than the rest of the request.
 */
export function sendHttpRequestOnce(
  dispatcher: Dispatcher,
  url: URL,
  init: HttpRequestInit,
  attempt: HttpDispatchAttempt,
): Promise<DecompressedResponse> {
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
    addAbortObserver(signal, passage);
    const { origin, path } = targetOf(url);
    dispatcher.dispatch({ origin, path, method, headers: withDefaultHeaders(headers), body }, passage);
  });
}

/**
 * The state of one HTTP request that was sent. The functions of a request use `this`, because creating closures for thousands
 * of requests per second is slower.
 */
interface RequestInProgress extends AbortObserver, Dispatcher.DispatchHandler {
  readonly method: string;
  readonly signal: AbortSignal;
  readonly attempt: HttpDispatchAttempt;
  readonly resolve: (response: DecompressedResponse) => void;
  readonly reject: (error: unknown) => void;
  controller: Dispatcher.DispatchController | undefined;
  bodyStream: ReceivedResponseBodyStream | undefined;
}

/** The promise of a request also rejects while the dispatcher still waits for a connection. */
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
    const decompressor = decompressors.get(textOf(headers['content-encoding'])?.trim().toLowerCase());
    this.bodyStream = createReceivedResponseBodyStream(
      controller,
      decompressor === undefined ? this.attempt : compressedBodyHandler,
    );
    body =
      decompressor === undefined ? this.bodyStream.chunks : decompress(decompressor, this.bodyStream, this.attempt);
  }
  this.resolve({ status, headers: { get: (name) => textOf(headers[name.toLowerCase()]) }, body });
}

function onResponseData(this: RequestInProgress, _: unknown, chunk: Uint8Array): void {
  this.bodyStream?.push(chunk);
}

function onResponseEnd(this: RequestInProgress): void {
  removeAbortObserver(this.signal, this);
  this.bodyStream?.end();
}

function onResponseError(this: RequestInProgress, _: unknown, error: Error): void {
  fail(this, error);
}

function fail(passage: RequestInProgress, error: unknown): void {
  removeAbortObserver(passage.signal, passage);
  passage.reject(error);
  passage.bodyStream?.fail(error);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The parsed URL is cached, because thousands of requests use the same URL. */
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

/**
 * Refuses requests that `fetch` refuses, but that a dispatcher would send incompletely or unsafely. The message of the thrown
 * error is replaced in undici-sender.ts.
 */
function requireSendable({ username, password }: URL, { method, body }: HttpRequestInit): void {
  if (username !== '' || password !== '') throw new TypeError('the URL contains a user name');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

/**
 * Content codings (RFC 9110 §8.4.1). Only gzip is requested, but other codings are decoded too, because a response may contain
 * the only copy of a refresh token.
 */
const decompressors = new Map<string | undefined, Decompressor>([
  ['gzip', 'createGunzip'],
  ['x-gzip', 'createGunzip'],
  ['deflate', 'createInflate'],
  ['br', 'createBrotliDecompress'],
]);

type Decompressor = 'createGunzip' | 'createInflate' | 'createBrotliDecompress';

/** Compressed data needs no error mapping here, because `decompress` maps the errors. */
const compressedBodyHandler: ReceivedResponseBodyEndHandlers = {
  failure: (error) => (error instanceof Error ? error : new Error(String(error))),
  done: async () => {},
};

async function* decompress(
  decompressor: Decompressor,
  bodyStream: ReceivedResponseBodyStream,
  { failure, done }: ReceivedResponseBodyEndHandlers,
): AsyncGenerator<Uint8Array> {
  const [{ pipeline }, zlib] = await Promise.all([import('node:stream'), import('node:zlib')]);
  try {
    // The callback ignores the error, because reading the stream throws the same error.
    yield* pipeline(bodyStream.chunks, zlib[decompressor](), () => {});
  } catch (error) {
    throw failure(error);
  } finally {
    // The server may continue to send after the end of the compressed data.
    bodyStream.leave();
    await done();
  }
}

/** The request headers with the default headers; cached, because thousands of requests have the same headers. */
const headersWithDefaults = new WeakMap<HttpRequestInit['headers'], HttpRequestInit['headers']>();

function withDefaultHeaders(headers: HttpRequestInit['headers']): HttpRequestInit['headers'] {
  const all = headersWithDefaults.get(headers) ?? {
    'accept-encoding': 'gzip',
    'user-agent': `cloudctl/${programVersion}`,
    ...headers,
  };
  headersWithDefaults.set(headers, all);
  return all;
}
