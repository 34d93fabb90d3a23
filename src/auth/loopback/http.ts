import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { maxBodyBytes, type Refusal, type RequestBody, refuse } from './decide.ts';
import { type Page, refusalPage, type TabAnswer } from './pages.ts';

/** A complete response of the helper. Every response has the same security headers and closes its connection. */
export interface HelperResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function pageResponse(page: Page, headers: Readonly<Record<string, string>> = {}): HelperResponse {
  return response(page.status, page.html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': page.policy,
    ...headers,
  });
}

/** `outcome` is that of the login, when it has ended. */
export function refusalResponse(refusal: Refusal, outcome?: TabAnswer): HelperResponse {
  return pageResponse(refusalPage(refusal.reason, outcome), 'allow' in refusal ? { Allow: refusal.allow } : {});
}

/** After a 303 redirect the browser sends a GET request that contains nothing of the original request. */
export function redirectResponse(location: string): HelperResponse {
  return response(303, '', { Location: location });
}

export function jsonResponse(value: object): HelperResponse {
  return response(200, JSON.stringify(value), { 'Content-Type': 'application/json' });
}

export function sendResponse(target: ServerResponse, { status, headers, body }: HelperResponse): void {
  if (!target.destroyed) target.writeHead(status, headers).end(body);
}

function response(status: number, body: string, headers: Readonly<Record<string, string>>): HelperResponse {
  return { status, body, headers: { ...commonHeaders, 'Content-Length': String(Buffer.byteLength(body)), ...headers } };
}

// The headers never include Access-Control-*, so that no other origin can read a response.
const commonHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Connection: 'close',
};

/** Reads a request body of at most `maxBodyBytes`; returns undefined when the connection was closed before the body was complete. */
export async function readBody(message: IncomingMessage): Promise<RequestBody | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBodyBytes) {
        // The rest of a body that is too long is discarded, and the connection is closed after the response.
        chunks.length = 0;
        resolve({ kind: 'too_long' });
        return;
      }
      chunks.push(chunk);
    });
    message.once('end', () => resolve({ kind: 'text', text: Buffer.concat(chunks).toString('utf8') }));
    message.once('error', () => resolve(undefined));
    message.once('close', () => resolve(undefined));
  });
}

interface ConnectionRules {
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
export function attachListener(
  server: Server,
  { sockets, acceptPeer, onOversizedHeaders }: ConnectionRules,
  onRequest: RequestListener,
): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const listener: RequestListener = (message, answer) => {
    answering.set(message.socket, answer);
    onRequest(message, answer);
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
    endWith(socket, { kind: 'refuse', reason: 'method_not_allowed', allow: 'GET' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'HPE_HEADER_OVERFLOW') onOversizedHeaders();
    const hasBegun = answering.get(socket)?.headersSent === true;
    if (hasBegun || !socket.writable || hasSentNothing(socket)) socket.destroy();
    else endWith(socket, refuse(parserErrors[error.code ?? ''] ?? 'not_a_response'));
  });
}

/** Answers a request that Node's HTTP parser rejects before a response object exists. */
function endWith(socket: Duplex, refusal: Refusal): void {
  const { status, headers, body } = refusalResponse(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
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

/**
 * The open sockets of the helper. When more than `limit` are open, the one with the longest inactivity is destroyed; one that
 * waits for a response only if all of them wait for one.
 */
export class SocketLimiter {
  readonly #members = new Map<Socket, SocketActivity>();
  readonly #limit: number;
  readonly #now: () => number;

  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  add(socket: Socket): void {
    this.#members.set(socket, { lastActiveAt: this.#now(), bytes: socket.bytesRead, isPending: false });
    socket.once('close', () => this.#members.delete(socket));
    if (this.#members.size > this.#limit) this.#longestInactive()?.destroy();
  }

  /** Marks a socket that waits for a response. */
  markPending(socket: Socket): void {
    const member = this.#members.get(socket);
    if (member !== undefined) member.isPending = true;
  }

  destroyAll(): void {
    for (const socket of this.#members.keys()) socket.destroy();
  }

  /** The first of several with the same time. */
  #longestInactive(): Socket | undefined {
    let longest: Socket | undefined;
    let rank = Number.POSITIVE_INFINITY;
    for (const [socket, member] of this.#members) {
      // A `data` listener on the socket would disable the fast path of Node's HTTP parser, so received bytes are compared.
      if (socket.bytesRead !== member.bytes) {
        member.bytes = socket.bytesRead;
        member.lastActiveAt = this.#now();
      }
      const own = member.isPending ? Number.POSITIVE_INFINITY : member.lastActiveAt;
      if (longest === undefined || own < rank) [longest, rank] = [socket, own];
    }
    return longest;
  }
}

interface SocketActivity {
  lastActiveAt: number;
  bytes: number;
  isPending: boolean;
}
