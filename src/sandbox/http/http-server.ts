import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkHttpMessageFraming } from './framing.ts';
import type { SandboxHttpReply } from './http-reply.ts';
import { sendReplyWithFault } from './send-reply-with-fault.ts';

export const DEFAULT_BODY_LIMIT = 1024 * 1024;

/**
 * Many clients read the response only after they have sent the whole body, and lose it when the connection closes before.
 * Therefore a body above the limit is read and discarded, up to this multiple of the limit.
 */
const DISCARDED_BODY_FACTOR = 16;

/** Responds to a request whose body was read; the body is undefined when it exceeded the size limit. The handler must not throw. */
export type HttpHandler = (
  message: IncomingMessage,
  body: Buffer | undefined,
) => SandboxHttpReply | Promise<SandboxHttpReply>;

/** The maximum size of a request body in bytes. */
export type RequestBodyLimitSelector = (message: IncomingMessage) => number;

/** Creates an HTTP server with limits on size and time. No input from a client can end the server process. */
export function createHttpServer(
  handler: HttpHandler,
  limitOf: RequestBodyLimitSelector = () => DEFAULT_BODY_LIMIT,
): Server {
  const pending: PendingBySocket = new WeakMap();
  const server = createServer(
    {
      maxHeaderSize: 64 * 1024,
      headersTimeout: 5_000,
      requestTimeout: 8_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
      highWaterMark: 64 * 1024,
    },
    (message, response) => receive(handler, message, response, pending, limitOf(message)),
  );
  server.on('clientError', rejectBadMessage);
  return server;
}

/**
 * Resolves with the number of the port on which the server listens. Rejects with an Error that has the members `code` (error
 * code of the operating system) and `port`.
 */
export function startListening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : port);
    });
  });
}

export function closeHttpServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** For each connection, the promise of the request that is currently processed. */
type PendingBySocket = WeakMap<Socket, Promise<void>>;

function receive(
  handler: HttpHandler,
  message: IncomingMessage,
  response: ServerResponse,
  pending: PendingBySocket,
  limit: number,
): void {
  const framingStatus = checkHttpMessageFraming(message);
  if (framingStatus !== undefined) {
    message.on('error', () => response.destroy()).resume();
    inOrder(pending, message.socket, () => rejectFraming(response, framingStatus));
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const handle = (body: Buffer | undefined): void =>
    inOrder(pending, message.socket, () => respond(handler, message, body, response));
  message.on('error', () => response.destroy());
  message.on('data', (chunk: Buffer) => {
    const wasDiscardable = size <= limit * DISCARDED_BODY_FACTOR;
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else chunks.length = 0;
    if (wasDiscardable && size > limit * DISCARDED_BODY_FACTOR) handle(undefined);
  });
  message.on('end', () => {
    if (size <= limit * DISCARDED_BODY_FACTOR) handle(size <= limit ? Buffer.concat(chunks) : undefined);
  });
}

/** Processes pipelined requests one after the other, so that no request is processed after its connection was closed. */
function inOrder(pending: PendingBySocket, socket: Socket, handle: () => Promise<void> | undefined): void {
  const previous = pending.get(socket);
  const handleIfOpen = (): Promise<void> | undefined => (socket.writable ? handle() : undefined);
  const done = previous === undefined ? handleIfOpen() : previous.then(handleIfOpen);
  if (done === undefined) return;
  pending.set(socket, done);
  void done.then(() => {
    if (pending.get(socket) === done) pending.delete(socket);
  });
}

/** The function is synchronous when the handler is, so that a simple request is processed fast. */
function respond(
  handler: HttpHandler,
  message: IncomingMessage,
  body: Buffer | undefined,
  response: ServerResponse,
): Promise<void> | undefined {
  const reply = handler(message, body);
  // The rest of an incomplete body would be read as another request.
  const closesConnection = !message.complete;
  if (reply instanceof Promise) return reply.then((settled) => deliver(response, settled, closesConnection));
  return deliver(response, reply, closesConnection);
}

function deliver(
  response: ServerResponse,
  reply: SandboxHttpReply,
  closesConnection: boolean,
): Promise<void> | undefined {
  if (reply.deliveryFault !== undefined) return sendReplyWithFault(response, reply, reply.deliveryFault);
  const size = Buffer.byteLength(reply.body);
  const length = reply.status === 204 ? {} : { 'content-length': String(size) };
  response.writeHead(reply.status, {
    ...reply.headers,
    ...length,
    ...(closesConnection ? { connection: 'close' } : {}),
  });
  // The number of bytes equals the number of characters only for ASCII text, and copying ASCII text is faster than encoding
  // it.
  response.end(reply.body, size === reply.body.length ? 'latin1' : 'utf8', reply.sent);
  return undefined;
}

/** Rejects a request and closes the connection, so that no byte after the request is read as another request. */
async function rejectFraming(response: ServerResponse, status: number): Promise<void> {
  // Node's HTTP parser rejects some requests with invalid framing itself, one turn of the event loop later.
  await new Promise(setImmediate);
  if (response.socket?.writable !== true) return;
  response.writeHead(status, { connection: 'close', 'content-length': '0' }).end();
  await new Promise((resolve) => response.once('close', resolve));
}

/**
 * Responds with 408 to a request that timed out, which the client may repeat (RFC 9110 §15.5.9), and with 400 to any other
 * invalid request.
 */
function rejectBadMessage(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
  if (!socket.writable) socket.destroy();
  else socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
  return Object.assign(new Error(`could not listen on ${host} port ${port}: ${reason}`, { cause }), {
    code: cause.code,
    port,
  });
}
