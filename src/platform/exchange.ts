import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { version } from '../version.ts';
import type { Answer, SendInit } from './send.ts';
import { request } from './undici.ts';

/** An answer whose body, null where there can be none, is not compressed any more. */
export type Response = Pick<Answer, 'status' | 'headers' | 'body'>;

/**
 * One request and its answer as fetch has them, and sent once whatever is answered. Not by fetch itself: its streams cost
 * more than all else on the way of a large answer.
 */
export async function exchange(dispatcher: Dispatcher, url: URL, init: SendInit): Promise<Response> {
  const { method, headers, body, signal } = init;
  signal.throwIfAborted();
  refuseOddities(url, init);
  const sending = request.call(dispatcher, {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { 'accept-encoding': 'gzip', 'user-agent': `cloudctl/${version}`, ...headers },
    body: body ?? null,
    signal,
  });
  const answer = await unlessAborted(sending, signal);
  const { statusCode: status } = answer;
  const get = (name: string): string | null => textOf(answer.headers[name.toLowerCase()]);
  if (method === 'HEAD' || status === 204 || status === 205 || status === 304) {
    answer.body.resume();
    return { status, headers: { get }, body: null };
  }
  const isGzip = get('content-encoding')?.trim().toLowerCase() === 'gzip';
  return { status, headers: { get }, body: isGzip ? await unzipped(answer.body) : answer.body };
}

/** What fetch refuses and a dispatcher sends without a word, or leaves out. The words stay here: see network.ts. */
function refuseOddities({ username, password }: URL, { method, body }: SendInit): void {
  if (username !== '' || password !== '') throw new TypeError('the address names a user');
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has a body`);
}

/** A dispatcher looks at the signal once it has a connection; a deadline does not wait for that. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function textOf(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

async function unzipped(stream: Readable): Promise<AsyncIterable<Uint8Array>> {
  const [{ pipeline }, { createGunzip }] = await Promise.all([import('node:stream'), import('node:zlib')]);
  // Whoever reads meets the error itself.
  return pipeline(stream, createGunzip(), () => {});
}
