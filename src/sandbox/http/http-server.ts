import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { deliverWithFault } from './faulty-delivery.ts';
import { checkFraming } from './framing.ts';
import type { HttpReply } from './http-reply.ts';

export const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** Answers a request that was read whole; the body is undefined when it was larger than the limit. It does not throw. */
export type HttpHandler = (message: IncomingMessage, body: Buffer | undefined) => HttpReply | Promise<HttpReply>;

/** How large the body of a request may be, in bytes. */
export type BodyLimitOf = (message: IncomingMessage) => number;

/** A server whose limits end half requests and floods; nothing that comes in over a socket can end the process. */
export function createHttpServer(answerer: HttpHandler, limitOf: BodyLimitOf = () => DEFAULT_BODY_LIMIT): Server {
  const busy: PendingBySocket = new WeakMap();
  const server = createServer(
    {
      maxHeaderSize: 64 * 1024,
      headersTimeout: 5_000,
      requestTimeout: 8_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
      highWaterMark: 64 * 1024,
    },
    (message, response) => serve(answerer, message, response, busy, limitOf(message)),
  );
  server.on('clientError', refuse);
  return server;
}

/** Resolves with the port; rejects with a sentence that names it. */
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

/** What is still under way on a connection. */
type PendingBySocket = WeakMap<Socket, Promise<void>>;

function serve(
  answerer: HttpHandler,
  message: IncomingMessage,
  response: ServerResponse,
  busy: PendingBySocket,
  limit: number,
): void {
  const fault = checkFraming(message);
  if (fault !== undefined) {
    message.on('error', () => response.destroy()).resume();
    inTurn(busy, message.socket, () => hangUp(response, fault));
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const answer = (body: Buffer | undefined): void =>
    inTurn(busy, message.socket, () => respond(answerer, message, body, response));
  message.on('error', () => response.destroy());
  message.on('data', (chunk: Buffer) => {
    const fitted = size <= limit;
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else if (fitted) answer(undefined);
  });
  message.on('end', () => {
    if (size <= limit) answer(Buffer.concat(chunks));
  });
}

/** Pipelined requests are carried out one after the other, so that one behind a cut is never carried out. */
function inTurn(busy: PendingBySocket, socket: Socket, act: () => Promise<void> | undefined): void {
  const before = busy.get(socket);
  const actIfHeard = (): Promise<void> | undefined => (socket.writable ? act() : undefined);
  const done = before === undefined ? actIfHeard() : before.then(actIfHeard);
  if (done === undefined) return;
  busy.set(socket, done);
  void done.then(() => {
    if (busy.get(socket) === done) busy.delete(socket);
  });
}

/** A promise only where there is something to wait for. */
function respond(
  answerer: HttpHandler,
  message: IncomingMessage,
  body: Buffer | undefined,
  response: ServerResponse,
): Promise<void> | undefined {
  const reply = answerer(message, body);
  if (reply instanceof Promise) return reply.then((late) => deliver(response, late, body === undefined));
  return deliver(response, reply, body === undefined);
}

function deliver(response: ServerResponse, reply: HttpReply, hangUp: boolean): Promise<void> | undefined {
  if (reply.deliveryFault !== undefined) return deliverWithFault(response, reply, reply.deliveryFault);
  const size = Buffer.byteLength(reply.body);
  const length = reply.status === 204 ? {} : { 'content-length': String(size) };
  response.writeHead(reply.status, { ...reply.headers, ...length, ...(hangUp ? { connection: 'close' } : {}) });
  // ASCII, which is as long in bytes as in characters, is copied faster than it is encoded.
  response.end(reply.body, size === reply.body.length ? 'latin1' : 'utf8', reply.sent);
  return undefined;
}

/** Nothing that stands behind such a message is carried out, whatever it looks like. */
async function hangUp(response: ServerResponse, status: number): Promise<void> {
  // Of some of them the parser says so itself, a moment later.
  await new Promise(setImmediate);
  if (response.socket?.writable !== true) return;
  response.writeHead(status, { connection: 'close', 'content-length': '0' }).end();
  await new Promise((resolve) => response.once('close', resolve));
}

/** What came too late is no bad request: who is told so may ask again (RFC 9110, 15.5.9). */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
  if (!socket.writable) socket.destroy();
  else socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message;
  return Object.assign(new Error(`could not listen on ${host} port ${port}: ${reason}`, { cause }), {
    code: cause.code,
    port,
  });
}
