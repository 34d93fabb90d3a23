import { connect, type Socket } from 'node:net';

/** Everything received on a connection, and how the connection ended. */
export interface ReceivedBytes {
  readonly text: string;
  /** One entry for each read. */
  readonly chunks: readonly string[];
  readonly end: 'closed' | 'reset' | 'open';
}

export interface RawConnection {
  readonly socket: Socket;
  /** Sends raw bytes. */
  readonly write: (bytes: string) => void;
  /** Resolves when the received text matches; rejects when the connection ends first. */
  readonly waitFor: (pattern: RegExp) => Promise<string>;
  /** Resolves when the server closes the connection. */
  readonly closed: Promise<ReceivedBytes>;
}

/** Opens a connection that gives access to every received byte. Only the server closes it. */
export function openRawConnection(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  const chunks: string[] = [];
  const watchers = new Set<() => void>();
  let wasReset = false;
  let isOver = false;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const changed = (): void => {
    for (const check of [...watchers]) check();
  };
  const over = new Promise<ReceivedBytes>((resolve) => {
    socket.on('close', () => {
      isOver = true;
      changed();
      resolve({ text: chunks.join(''), chunks, end: wasReset ? 'reset' : 'closed' });
    });
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    wasReset = error.code === 'ECONNRESET';
  });
  socket.on('data', (bytes) => {
    chunks.push(bytes.toString('latin1'));
    changed();
  });
  return {
    socket,
    closed: over,
    write: (bytes) => void socket.write(bytes),
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const text = chunks.join('');
          if (!pattern.test(text) && !isOver) return;
          watchers.delete(check);
          if (pattern.test(text)) resolve(text);
          else reject(new Error(`the connection ended before ${pattern}: ${JSON.stringify(text)}`));
        };
        watchers.add(check);
        check();
      }),
  };
}

/** Sends one request and waits until the server closes the connection. */
export async function exchange(origin: string, bytes: string): Promise<ReceivedBytes> {
  const line = openRawConnection(origin);
  line.write(bytes);
  return line.closed;
}

/** The bytes of a request on a persistent connection. */
export function requestBytes(
  origin: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const all = {
    host: new URL(origin).host,
    ...(body === '' ? {} : { 'content-length': String(body.length) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
