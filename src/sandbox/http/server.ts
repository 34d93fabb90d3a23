import {
  createServer,
  type ServerOptions as HttpServerOptions,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type Server as TlsServer } from 'node:tls';
import { buildOrigin, type ServerOrigin } from './origin.ts';
import type { Reply, ReplyFault } from './reply.ts';

/** An origin that is served by one HTTP server for each address. */
export interface HttpServers extends ServerOrigin {
  readonly port: number;
  readonly close: () => Promise<void>;
}

export interface ListenOptions {
  /** The host of all URLs that the origin hands out (default: the host on which it listens). */
  readonly publicHost?: string | undefined;
  /** Creates the handler of a request from the names of the origin, which are known once the port is bound. */
  readonly handlerOf: (names: ServerOrigin) => HttpHandler;
  readonly limitOf?: (message: IncomingMessage) => number;
  /** With a certificate the servers use HTTPS. */
  readonly tls?: TlsCertificate | undefined;
}

/**
 * Listens on host and port; port 0 means any free port. The host `localhost` means both loopback addresses, so that no other
 * program can listen on the address that a browser tries first. Rejects with the same errors as `startListening`.
 */
export async function startHttpServers(
  host: string,
  port: number,
  { publicHost, handlerOf, limitOf, tls }: ListenOptions,
): Promise<HttpServers> {
  const scheme = tls === undefined ? 'http' : 'https';
  let names = buildOrigin(host, port, publicHost, scheme);
  const create = (): Server => createHttpServer((message, body) => handlerOf(names)(message, body), limitOf, tls);
  const first = create();
  const actualPort = await startListening(first, host === 'localhost' ? '127.0.0.1' : host, port);
  names = buildOrigin(host, actualPort, publicHost, scheme);
  const servers = [first];
  if (host === 'localhost') {
    const second = create();
    try {
      await startListening(second, '::1', actualPort);
      servers.push(second);
    } catch (error) {
      if (!isMissingAddress(error)) {
        await closeHttpServer(first);
        throw error;
      }
    }
  }
  return {
    ...names,
    port: actualPort,
    close: async () => {
      await Promise.all(servers.map(closeHttpServer));
    },
  };
}

/** Finds several different free ports. All ports stay bound until the last one is found, so that they differ from each other. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const probes = Array.from({ length: count }, () => createTcpServer());
  try {
    return await Promise.all(
      probes.map(
        (probe) =>
          new Promise<number>((resolve, reject) => {
            probe.once('error', reject);
            probe.listen(0, '127.0.0.1', () => resolve(portOf(probe.address())));
          }),
      ),
    );
  } finally {
    for (const probe of probes) probe.close();
  }
}

function portOf(address: AddressInfo | string | null): number {
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** A machine without IPv6 does not have the address ::1. */
function isMissingAddress(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
}

export const BODY_LIMIT = 1024 * 1024;
const MAX_HEADER_SIZE = 64 * 1024;

/**
 * Many clients read the response only after they have sent the whole body, and lose it when the connection closes before.
 * Therefore a body above the limit is read and discarded, up to this multiple of the limit.
 */
const DISCARDED_BODY_FACTOR = 16;

/** Responds to a request whose body was read; the body is undefined when it exceeded the size limit. */
export type HttpHandler = (message: IncomingMessage, body: Buffer | undefined) => Reply | Promise<Reply>;

/** The maximum size of a request body in bytes. */
export type BodyLimitSelector = (message: IncomingMessage) => number;

/** A certificate with its chain and its private key, both in PEM format. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Throws an Error for a certificate and a key that no server could use. */
export function requireCertificate(tls: TlsCertificate): void {
  try {
    createSecureContext(tls);
    // Without these, every handshake would fail.
    if (!tls.cert.includes('-----BEGIN ')) throw new Error('no certificate');
    if (!tls.key.includes('-----BEGIN ')) throw new Error('no private key');
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error:[0-9A-F]*:/i, '') : String(error);
    throw new Error(`the certificate and the key cannot be used for TLS: ${reason}`);
  }
}

/** Creates a server with limits on size and time. No input from a client can end the server process. */
export function createHttpServer(
  handler: HttpHandler,
  limitOf: BodyLimitSelector = () => BODY_LIMIT,
  tls?: TlsCertificate,
): Server {
  const pending: PendingBySocket = new WeakMap();
  const limits = {
    maxHeaderSize: MAX_HEADER_SIZE,
    headersTimeout: 5_000,
    requestTimeout: 8_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 60_000,
    highWaterMark: 64 * 1024,
  };
  const onRequest = (message: IncomingMessage, response: ServerResponse): void =>
    receive(handler, message, response, pending, limitOf(message));
  const server = tls === undefined ? createServer(limits, onRequest) : createTlsServer(limits, onRequest, tls);
  server.on('clientError', rejectBadMessage);
  return server;
}

function createTlsServer(limits: HttpServerOptions, onRequest: RequestListener, tls: TlsCertificate): Server {
  const server = createHttpsServer({ ...limits, ...tls, handshakeTimeout: limits.headersTimeout }, onRequest);
  rememberSockets(server);
  // A client that does not trust the certificate ends the handshake; there is nobody to answer.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
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
  const framingStatus = checkFraming(message);
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
  // The rest of an incomplete body would be read as another request.
  const closesConnection = !message.complete;
  try {
    const reply = handler(message, body);
    if (!(reply instanceof Promise)) return deliver(response, reply, closesConnection);
    return reply.then((settled) => deliver(response, settled, closesConnection)).catch(() => fail(response));
  } catch {
    return fail(response);
  }
}

/** No exception ends the process: the handler answers those of a request itself, this is what is left. */
function fail(response: ServerResponse): undefined {
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { connection: 'close', 'content-length': '0' }).end();
}

function deliver(response: ServerResponse, reply: Reply, closesConnection: boolean): Promise<void> | undefined {
  if (reply.deliveryFault !== undefined) return sendReply(response, reply, reply.deliveryFault);
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
 * Responds with 408 to a request that timed out, which the client may repeat (RFC 9110 §15.5.9), with 431 to one with too many
 * header bytes, and with 400 to any other invalid request.
 */
function rejectBadMessage(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = BAD_MESSAGES[error.code ?? ''] ?? 400;
  const body = status === 431 ? HEADERS_TOO_LARGE : '';
  const type = body === '' ? '' : 'Content-Type: application/json\r\n';
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${type}Content-Length: ${body.length}\r\n\r\n`;
  socket.end(`${head}${body}`, () => socket.destroy());
}

const BAD_MESSAGES: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
const HEADERS_TOO_LARGE = JSON.stringify({
  id: 'header_fields_too_large',
  message: `The request line and the headers are larger than ${MAX_HEADER_SIZE} bytes.`,
});

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
  return Object.assign(new Error(`could not listen on ${host} port ${port}: ${reason}`, { cause }), {
    code: cause.code,
    port,
  });
}

type Framing = Pick<IncomingMessage, 'headers' | 'httpVersionMajor' | 'httpVersionMinor'>;

/**
 * Returns the error status for a request whose end a proxy could determine differently
 * (https://www.rfc-editor.org/rfc/rfc9112#section-6.1): 400 when the last transfer coding is not chunked or the version is
 * HTTP/1.0, 501 for any additional coding, undefined for valid framing. After a request with invalid framing the connection
 * must be closed.
 */
export function checkFraming({ headers, httpVersionMajor, httpVersionMinor }: Framing): 400 | 501 | undefined {
  const codings = headers['transfer-encoding'];
  if (codings === undefined) return undefined;
  const names = codings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const isOld = httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor < 1);
  if (isOld || names.at(-1) !== 'chunked') return 400;
  return names.length === 1 ? undefined : 501;
}

/**
 * Sends the faulty reply after the earlier responses of the same connection. Resolves when no more bytes of the reply will be
 * sent.
 */
export async function sendReply(response: ServerResponse, reply: Reply, fault: ReplyFault): Promise<void> {
  const socket = await waitForSocket(response);
  if (socket === undefined || socket.destroyed) return;
  const isHead = response.req.method === 'HEAD';
  switch (fault.kind) {
    case 'drop':
      socket.destroySoon();
      return;
    case 'reset':
      (tcpSockets.get(socket) ?? socket).resetAndDestroy();
      return;
    case 'half':
      socket.write(firstHalf(reply, isHead));
      socket.destroySoon();
      return;
    case 'drip':
      await drip(socket, reply, isHead, fault.pauseMs);
      return;
    default:
      fault satisfies never;
  }
}

/** The TCP connection below each TLS connection: only it can be reset. */
const tcpSockets = new WeakMap<Socket, Socket>();

/** Remembers the TCP connections of a TLS server. */
export function rememberSockets(server: TlsServer): void {
  const byPeer = new Map<string, Socket>();
  const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (tcp: Socket) => {
    const peer = peerOf(tcp);
    byPeer.set(peer, tcp);
    tcp.once('close', () => byPeer.delete(peer));
  });
  server.on('secureConnection', (socket) => {
    const tcp = byPeer.get(peerOf(socket));
    if (tcp !== undefined) tcpSockets.set(socket, tcp);
  });
}

/** Node assigns the socket when the earlier responses of the connection were sent; undefined when the connection closes before. */
function waitForSocket(response: ServerResponse): Promise<Socket | undefined> {
  const { socket: connection } = response.req;
  if (response.socket !== null || connection.destroyed) return Promise.resolve(response.socket ?? undefined);
  return new Promise((resolve) => {
    const onClose = (): void => resolve(undefined);
    connection.once('close', onClose);
    response.once('socket', (socket: Socket) => {
      connection.off('close', onClose);
      resolve(socket);
    });
  });
}

/** Returns the whole head and half of the body; for a reply without a body, half of the head. */
function firstHalf(reply: Reply, isHead: boolean): Buffer {
  const body = Buffer.from(isHead ? '' : reply.body);
  const head = headOf(reply, {});
  const length = body.length === 0 ? Math.ceil(head.length / 2) : head.length + Math.floor(body.length / 2);
  return Buffer.concat([head, body]).subarray(0, length);
}

/** Sends one byte at a time until the reply is complete or the client disconnects. */
async function drip(socket: Socket, reply: Reply, isHead: boolean, pauseMs: number): Promise<void> {
  const bytes = Buffer.concat([headOf(reply, { connection: 'close' }), Buffer.from(isHead ? '' : reply.body)]);
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  socket.once('close', onClose);
  // Without TCP_NODELAY, the kernel would collect small writes and send them together.
  socket.setNoDelay(true);
  try {
    for (let at = 0; at < bytes.length; at += 1) {
      if (at > 0) await sleep(pauseMs, undefined, { signal: closed.signal });
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.end(() => reply.sent?.());
    socket.destroySoon();
  } catch {
    // The client has disconnected during a pause between two bytes.
  } finally {
    socket.off('close', onClose);
  }
}

function headOf({ status, headers, body }: Reply, more: Readonly<Record<string, string>>): Buffer {
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
