import type { IncomingMessage } from 'node:http';
import { parseRequestTarget } from './host-header.ts';
import { type RequestParameters, readParameters } from './request-parameters.ts';

/** One request, read whole. Path and query are the raw bytes of the target: nothing is decoded or folded away. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Every value of a header, however often it came. */
  readonly header: (name: string) => readonly string[];
  readonly body: string;
  /** The Host header, or what the target names in its place. */
  readonly authority: string;
  /** Of query and body together, decoded once. */
  readonly parameters: () => RequestParameters;
  /** What stood in the place of `{…}` in the route's path. */
  readonly captures: readonly string[];
  /** Fires when the other side hangs up. */
  readonly disconnected: () => AbortSignal;
}

export function readRequest(message: IncomingMessage, body: Buffer): HttpRequest {
  const { target, authority = message.headers.host ?? '' } = parseRequestTarget(message);
  const mark = target.indexOf('?');
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const text = body.toString('utf8');
  let parameters: RequestParameters | undefined;
  return {
    method: message.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query,
    header: (name) => message.headersDistinct[name] ?? [],
    body: text,
    authority,
    parameters: () => {
      parameters ??= readParameters(query, text, message.headers['content-type'] ?? '');
      return parameters;
    },
    captures: [],
    disconnected: () => {
      const controller = new AbortController();
      message.socket.once('close', () => controller.abort());
      return controller.signal;
    },
  };
}
