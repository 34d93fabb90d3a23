import type { Dispatcher } from 'undici';
import { version } from '../version.ts';
import { createInflow, type Inflow, type Reading } from './inflow.ts';
import type { Answer, SendInit } from './send.ts';

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
export async function exchange(dispatcher: Dispatcher, url: URL, init: SendInit, attempt: Attempt): Promise<Response> {
  init.signal.throwIfAborted();
  refuseOddities(url, init);
  const { status, headers, inflow } = await dispatched(dispatcher, url, init, attempt);
  const get = (name: string): string | null => textOf(headers[name.toLowerCase()]);
  const body = isGzip(headers) && inflow !== undefined ? unzipped(inflow, attempt) : inflow?.chunks;
  return { status, headers: { get }, body: body ?? null };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Arrived {
  readonly status: number;
  readonly headers: Headers;
  /** undefined where there can be no body. */
  readonly inflow: Inflow | undefined;
}

function dispatched(dispatcher: Dispatcher, url: URL, init: SendInit, attempt: Attempt): Promise<Arrived> {
  const { method, headers, body, signal } = init;
  const request: Dispatcher.DispatchOptions = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: complete(headers),
    body: body ?? null,
  };
  return new Promise((resolve, reject) => {
    let inflow: Inflow | undefined;
    let abort = (_reason: Error): void => {};
    const done = (): void => signal.removeEventListener('abort', onAbort);
    const fail = (error: unknown): void => {
      done();
      reject(error);
      inflow?.fail(error);
    };
    // A dispatcher that still waits for a connection is not waited for: a deadline holds there as well.
    const onAbort = (): void => {
      fail(signal.reason);
      abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        attempt.sent = true;
        abort = (reason) => controller.abort(reason);
        if (signal.aborted) abort(signal.reason);
      },
      onResponseStart(controller, status, answered) {
        if (status < 200) return;
        if (method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304)
          inflow = createInflow(controller, isGzip(answered) ? unread : attempt);
        resolve({ status, headers: answered, inflow });
      },
      onResponseData: (_, chunk) => inflow?.push(chunk),
      onResponseEnd() {
        done();
        inflow?.end();
      },
      onResponseError: (_, error) => fail(error),
    });
  });
}

/** What fetch refuses and a dispatcher sends without a word, or leaves out. The words stay here: see network.ts. */
function refuseOddities({ username, password }: URL, { method, body }: SendInit): void {
  if (username !== '' || password !== '') throw new TypeError('the address names a user');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

function isGzip(headers: Headers): boolean {
  return textOf(headers['content-encoding'])?.trim().toLowerCase() === 'gzip';
}

/** Of bytes that are only on their way to be unzipped. */
const unread: Reading = {
  failure: (error) => (error instanceof Error ? error : new Error(String(error))),
  done: async () => {},
};

async function* unzipped(inflow: Inflow, { failure, done }: Reading): AsyncGenerator<Uint8Array> {
  const [{ pipeline }, { createGunzip }] = await Promise.all([import('node:stream'), import('node:zlib')]);
  try {
    // Whoever reads meets the error itself.
    yield* pipeline(inflow.chunks, createGunzip(), () => {});
  } catch (error) {
    throw failure(error);
  } finally {
    // What was no gzip at all may never end by itself.
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
