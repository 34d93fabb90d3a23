import type { IncomingMessage } from 'node:http';
import { parseRequestTarget } from './host-header.ts';
import { type RequestParameters, readParameters } from './request-parameters.ts';

/** A request with its body. Path and query are the raw target: nothing is decoded or normalized. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty when absent. */
  readonly query: string;
  /** All values of a header, by its lower-case name. */
  readonly header: (name: string) => readonly string[];
  readonly body: string;
  /** The Host header, or the authority of a target in absolute form. */
  readonly authority: string;
  /** Parameters of query and body together. */
  readonly parameters: () => RequestParameters;
  /** The path segments that match `{…}` in the path of the route. */
  readonly captures: readonly string[];
  /** Aborts when the client disconnects. */
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
