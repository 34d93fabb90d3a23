import type { Dispatcher } from 'undici';
import { version } from '../version.ts';
import { createInflow, type Inflow, type Reading } from './inflow.ts';
import type { Answer, SendInit } from './send.ts';
import { unwatchSignal, type Watcher, watchSignal } from './signal-watch.ts';

/** An answer whose body, null where there can be none, is not compressed any more. */
export type Response = Pick<Answer, 'status' | 'headers' | 'body'>;

export interface Attempt extends Reading {
  /** Whether undici ever began to write the request: no error code tells that, since all of them occur on both sides of it. */
  sent: boolean;
}

/**
 * One request and its answer as fetch has them, and sent once whatever is answered. Not by fetch itself, nor by undici's own
 * `request`: their streams cost more than all else on the way of an answer.
 */
export function exchange(dispatcher: Dispatcher, url: URL, init: SendInit, attempt: Attempt): Promise<Response> {
  const { method, headers, body = null, signal } = init;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    refuseOddities(url, init);
    const passage: Passage = {
      method,
      signal,
      attempt,
      resolve,
      reject,
      controller: undefined,
      inflow: undefined,
      onAbort,
      onRequestStart,
      onResponseStart,
      onResponseData,
      onResponseEnd,
      onResponseError,
    };
    watchSignal(signal, passage);
    const { origin, path } = targetOf(url);
    dispatcher.dispatch({ origin, path, method, headers: complete(headers), body }, passage);
  });
}

/** A request on its way. Its functions are the same for all and take it as `this`: thousands go in a second, and a closure for each costs more. */
interface Passage extends Watcher, Dispatcher.DispatchHandler {
  readonly method: string;
  readonly signal: AbortSignal;
  readonly attempt: Attempt;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
  controller: Dispatcher.DispatchController | undefined;
  inflow: Inflow | undefined;
}

/** A dispatcher that still waits for a connection is not waited for: a deadline holds there as well. */
function onAbort(this: Passage): void {
  fail(this, this.signal.reason);
  this.controller?.abort(this.signal.reason);
}

function onRequestStart(this: Passage, controller: Dispatcher.DispatchController): void {
  this.attempt.sent = true;
  this.controller = controller;
  if (this.signal.aborted) controller.abort(this.signal.reason);
}

function onResponseStart(
  this: Passage,
  controller: Dispatcher.DispatchController,
  status: number,
  headers: Headers,
): void {
  if (status < 200) return;
  let body: Answer['body'] = null;
  if (this.method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304) {
    const unpacker = unpackers.get(textOf(headers['content-encoding'])?.trim().toLowerCase());
    this.inflow = createInflow(controller, unpacker === undefined ? this.attempt : unread);
    body = unpacker === undefined ? this.inflow.chunks : unpacked(unpacker, this.inflow, this.attempt);
  }
  this.resolve({ status, headers: { get: (name) => textOf(headers[name.toLowerCase()]) }, body });
}

function onResponseData(this: Passage, _: unknown, chunk: Uint8Array): void {
  this.inflow?.push(chunk);
}

function onResponseEnd(this: Passage): void {
  unwatchSignal(this.signal, this);
  this.inflow?.end();
}

function onResponseError(this: Passage, _: unknown, error: Error): void {
  fail(this, error);
}

function fail(passage: Passage, error: unknown): void {
  unwatchSignal(passage.signal, passage);
  passage.reject(error);
  passage.inflow?.fail(error);
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
function refuseOddities({ username, password }: URL, { method, body }: SendInit): void {
  if (username !== '' || password !== '') throw new TypeError('the address names a user');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

/** By the names of RFC 9110, 8.4.1. Only gzip is asked for, but an answer that could not be read may hold the only refresh token. */
const unpackers = new Map<string | undefined, Unpacker>([
  ['gzip', 'createGunzip'],
  ['x-gzip', 'createGunzip'],
  ['deflate', 'createInflate'],
  ['br', 'createBrotliDecompress'],
]);

type Unpacker = 'createGunzip' | 'createInflate' | 'createBrotliDecompress';

/** Of bytes that are only on their way to be unpacked. */
const unread: Reading = {
  failure: (error) => (error instanceof Error ? error : new Error(String(error))),
  done: async () => {},
};

async function* unpacked(unpacker: Unpacker, inflow: Inflow, { failure, done }: Reading): AsyncGenerator<Uint8Array> {
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
const completed = new WeakMap<SendInit['headers'], SendInit['headers']>();

function complete(headers: SendInit['headers']): SendInit['headers'] {
  const all = completed.get(headers) ?? {
    'accept-encoding': 'gzip',
    'user-agent': `cloudctl/${version}`,
    ...headers,
  };
  completed.set(headers, all);
  return all;
}
