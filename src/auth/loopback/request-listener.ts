import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buildLoopbackRefusalResponse, serializeLoopbackResponse } from './loopback-http-response.ts';
import { buildLoopbackHttpMethodRefusal, buildLoopbackRefusal } from './refusal.ts';
import type { SocketLimiter } from './socket-limiter.ts';

export interface LoopbackConnectionAcceptOptions {
  readonly sockets: SocketLimiter;
  /** Whether to accept connections from this address; other connections are closed before a request is read. */
  readonly acceptPeer: (address: string | undefined) => boolean;
  /** Called when target and headers of a request are longer than the server's `maxHeaderSize`. */
  readonly onOversizedHeaders: () => void;
}

/**
 * Handles all requests of a server, including those to which Node would respond itself, so that each response has the security
 * headers.
 */
export function attachSecuredRequestListener(
  server: Server,
  { sockets, acceptPeer, onOversizedHeaders }: LoopbackConnectionAcceptOptions,
  onRequest: RequestListener,
): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const listener = (message: IncomingMessage, response: ServerResponse) => {
    answering.set(message.socket, response);
    onRequest(message, response);
  };
  server.on('connection', (socket) => {
    // A refused connection is not added to the sockets: at the limit, the socket of the browser could be closed in its
    // place.
    if (acceptPeer(socket.remoteAddress)) sockets.add(socket);
    else socket.destroy();
  });
  // A connection that could not be accepted has no effect on the other connections.
  server.on('error', () => undefined);
  server.on('request', listener);
  // Without a listener for this event, Node would respond with 100 or 417 itself.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  // Without a listener for the event `connect`, Node would close the connection without a response.
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(serializeLoopbackResponse(buildLoopbackRefusalResponse(buildLoopbackHttpMethodRefusal('GET'))), () =>
      socket.destroy(),
    );
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'HPE_HEADER_OVERFLOW') onOversizedHeaders();
    const begun = answering.get(socket)?.headersSent === true;
    if (begun || !socket.writable || hasSentNothing(socket)) {
      socket.destroy();
      return;
    }
    socket.end(
      serializeLoopbackResponse(
        buildLoopbackRefusalResponse(buildLoopbackRefusal(parserErrors[error.code ?? ''] ?? 'not_a_response')),
      ),
      () => socket.destroy(),
    );
  });
}

// Browsers open connections in advance; a connection that sent no request gets no response.
function hasSentNothing(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

const parserErrors: Readonly<Record<string, 'request_timeout' | 'headers_too_large' | 'body_too_large'>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};
