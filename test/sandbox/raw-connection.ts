import { connect, type Socket } from 'node:net';

/** What came over one connection, and how it ended. */
export interface ReceivedBytes {
  readonly text: string;
  /** Bytes as they came, one entry for each time some did. */
  readonly chunks: readonly string[];
  readonly end: 'closed' | 'reset' | 'open';
}

export interface RawConnection {
  readonly socket: Socket;
  /** Sends bytes as they stand. */
  readonly write: (bytes: string) => void;
  /** Resolves when the text so far fits; rejects when the connection ends before. */
  readonly waitFor: (pattern: RegExp) => Promise<string>;
  /** Resolves when the other side ends the connection. */
  readonly closed: Promise<ReceivedBytes>;
}

/** A connection of its own, of which every byte is seen. It is not ended by this side before the other side ends it. */
export function openRawConnection(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  const chunks: string[] = [];
  const watchers = new Set<() => void>();
  let wasReset = false;
  let isOver = false;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const changed = (): void => {
    for (const look of [...watchers]) look();
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
        const look = (): void => {
          const text = chunks.join('');
          if (!pattern.test(text) && !isOver) return;
          watchers.delete(look);
          if (pattern.test(text)) resolve(text);
          else reject(new Error(`the connection ended before ${pattern}: ${JSON.stringify(text)}`));
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Sends one request and waits until the other side ends the connection. */
export async function exchange(origin: string, bytes: string): Promise<ReceivedBytes> {
  const line = openRawConnection(origin);
  line.write(bytes);
  return line.closed;
}

/** The bytes of a request; the connection is kept alive. */
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
