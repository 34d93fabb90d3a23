import type { IncomingMessage } from 'node:http';
import { splitAuthorityFromRequestTarget } from './host-header.ts';
import { type RequestParameters, readRequestParameters } from './request-parameters.ts';

/** An HTTP request with its complete body. Path and query are parts of the raw request target, neither decoded nor normalized. */
export interface SandboxHttpRequest {
  readonly method: string;
  readonly path: string;
  /** The query without the question mark; empty when the target has none. */
  readonly query: string;
  /** Returns all values of a header, given its name in lower case. */
  readonly header: (name: string) => readonly string[];
  readonly body: string;
  /** The Host header, or host and port of a request target in absolute form. */
  readonly authority: string;
  /** The origin of links in the reply: the public origin, else the one that the client used. */
  readonly linkOrigin: string;
  /** Reads the parameters in the query and in the body of the request. */
  readonly parameters: () => RequestParameters;
  /** The path segments that match the placeholders `{…}` in the path of the route. */
  readonly captures: readonly string[];
  /** A signal that is aborted when the client disconnects. */
  readonly disconnected: () => AbortSignal;
}

export function parseSandboxHttpRequest(
  message: IncomingMessage,
  body: Buffer,
  publicOrigin?: string,
): SandboxHttpRequest {
  const { target, authority = message.headers.host ?? '' } = splitAuthorityFromRequestTarget(message);
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
    linkOrigin: publicOrigin ?? `http://${authority}`,
    parameters: () => {
      parameters ??= readRequestParameters(query, text, message.headers['content-type'] ?? '');
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
