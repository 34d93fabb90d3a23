import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refusalResponse, serializeResponse } from './loopback-response.ts';
import { refuseMethod, refuseRequest } from './refusal.ts';
import type { SocketLimiter } from './socket-limiter.ts';

/** Connects a server to one listener: whatever Node would answer by itself gets an answer of ours, with our headers. */
export function attachRequestListener(server: Server, crowd: SocketLimiter, onRequest: RequestListener): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const listener = (message: IncomingMessage, response: ServerResponse) => {
    answering.set(message.socket, response);
    onRequest(message, response);
  };
  server.on('connection', (socket) => crowd.add(socket));
  // A connection that could not be accepted is that connection's loss: the listener goes on.
  server.on('error', () => undefined);
  server.on('request', listener);
  // Node would send a 100 or a 417 of its own.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  // Node would hang up without a word.
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(serializeResponse(refusalResponse(refuseMethod('GET'))), () => socket.destroy());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = answering.get(socket)?.headersSent === true;
    if (begun || !socket.writable || hasSentNothing(socket)) {
      socket.destroy();
      return;
    }
    socket.end(
      serializeResponse(refusalResponse(refuseRequest(parserErrors[error.code ?? ''] ?? 'not_a_response'))),
      () => socket.destroy(),
    );
  });
}

// A connection that never said a word is not spoken to: browsers keep such ones in stock.
function hasSentNothing(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

const parserErrors: Readonly<Record<string, 'request_timeout' | 'headers_too_large' | 'body_too_large'>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};
