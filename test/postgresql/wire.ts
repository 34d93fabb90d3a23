import { createServer, type Server, type Socket } from 'node:net';
import { Secret } from '../../src/base/secret.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';

export interface FakeServer {
  readonly source: PostgresqlEndpoint;
  stop(): Promise<void>;
}

/** A server made of what it answers to each message; undefined: nothing. */
export async function serveMessages(
  answer: (message: Buffer, socket: Socket) => Buffer | undefined,
): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (message) => {
      const reply = answer(message, socket);
      if (reply !== undefined) socket.write(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    source: {
      host: '127.0.0.1',
      port: address.port,
      dbname: 'd',
      username: 'u',
      password: new Secret('s3cret'),
      ssl: 'disable',
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function message(kind: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
}

export function int32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, 4 * at);
  return bytes;
}

/** ErrorResponse, of fields by their letter. */
export function failure(fields: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(fields).map(([name, value]) => `${name}${value}\0`);
  return message('E', Buffer.from(`${texts.join('')}\0`));
}

/** RowDescription, DataRow and CommandComplete of one text in one column. */
export function row(column: string, value: string): Buffer {
  const description = Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from(`${column}\0`),
    int32(0),
    Buffer.from([0, 0]),
    int32(25),
    Buffer.from([255, 255]),
    int32(-1),
    Buffer.from([0, 0]),
  ]);
  const data = Buffer.concat([Buffer.from([0, 1]), int32(Buffer.byteLength(value)), Buffer.from(value)]);
  return Buffer.concat([message('T', description), message('D', data), message('C', Buffer.from('SHOW\0'))]);
}

export const ready = message('Z', Buffer.from('I'));
/** Everything up to the first query, from process 4711. */
export const hello = Buffer.concat([message('R', int32(0)), message('K', int32(4711, 1)), ready]);

export function isStartup(text: Buffer): boolean {
  return text.length > 8 && text.readInt32BE(4) === 196_608;
}

export function queryIn(text: Buffer): string | undefined {
  return text[0] === 0x51 ? text.subarray(5, -1).toString() : undefined;
}
