import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Reply } from './reply.ts';

export const BODY_LIMIT = 1024 * 1024;

/** Answers a request that was read whole; the body is undefined when it was larger than the limit. It does not throw. */
export type Answerer = (message: IncomingMessage, body: Buffer | undefined) => Reply | Promise<Reply>;

/** A server whose limits end half requests and floods; nothing that comes in over a socket can end the process. */
export function createListener(answerer: Answerer): Server {
  const server = createServer(
    {
      maxHeaderSize: 64 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
      highWaterMark: 64 * 1024,
    },
    (message, response) => serve(answerer, message, response),
  );
  server.on('clientError', (_error, socket) => refuse(socket));
  return server;
}

/** Resolves with the port; rejects with a sentence that names it. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : port);
    });
  });
}

export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function serve(answerer: Answerer, message: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let size = 0;
  message.on('error', () => response.destroy());
  message.on('data', (chunk: Buffer) => {
    const fitted = size <= BODY_LIMIT;
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
    else if (fitted) void respond(answerer, message, undefined, response);
  });
  message.on('end', () => {
    if (size <= BODY_LIMIT) void respond(answerer, message, Buffer.concat(chunks), response);
  });
}

async function respond(
  answerer: Answerer,
  message: IncomingMessage,
  body: Buffer | undefined,
  response: ServerResponse,
): Promise<void> {
  const reply = answerer(message, body);
  write(response, reply instanceof Promise ? await reply : reply, body === undefined);
}

function write(response: ServerResponse, reply: Reply, hangUp: boolean): void {
  const length = reply.status === 204 ? {} : { 'content-length': String(Buffer.byteLength(reply.body)) };
  response.writeHead(reply.status, { ...reply.headers, ...length, ...(hangUp ? { connection: 'close' } : {}) });
  response.end(reply.body);
}

function refuse(socket: Duplex): void {
  if (!socket.writable) socket.destroy();
  else socket.end(BAD_REQUEST, () => socket.destroy());
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message;
  return Object.assign(new Error(`could not listen on ${host} port ${port}: ${reason}`, { cause }), {
    code: cause.code,
    port,
  });
}

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
