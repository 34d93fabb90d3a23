import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Certificates } from '../fixtures/certificates.ts';

/** What a server does that speaks garbage, or worse. `login`: instead of the login; `query`: to each query after a login. */
export interface FakeBehaviour {
  readonly name: string;
  readonly tls?: (socket: Socket) => void;
  readonly login?: (socket: Socket, startup: Buffer) => void;
  readonly query?: (socket: Socket, sql: string) => void;
}

export interface FakePostgres {
  readonly port: number;
  /** Everything that clients sent after the startup message. */
  received(): Buffer;
  stop(): Promise<void>;
}

/** @param certificates of the server; without them it declines TLS */
export async function startFakePostgres(
  behaviour: FakeBehaviour,
  { certificates, host = '127.0.0.1' }: { readonly certificates?: Certificates; readonly host?: string } = {},
): Promise<FakePostgres> {
  const sockets = new Set<Socket>();
  const chunks: Buffer[] = [];
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    void serve(socket, behaviour, certificates, (chunk) => chunks.push(chunk)).catch(() => socket.destroy());
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    received: () => Buffer.concat(chunks),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const sslRequest = 80_877_103;

async function serve(
  raw: Socket,
  { tls, login, query }: FakeBehaviour,
  certificates: Certificates | undefined,
  record: (chunk: Buffer) => void,
): Promise<void> {
  let socket = raw;
  let [first]: Buffer[] = (await once(socket, 'data')) as [Buffer];
  if (first!.length >= 8 && first!.readInt32BE(4) === sslRequest) {
    if (tls !== undefined) return tls(socket);
    if (certificates === undefined) socket.write('N');
    else {
      socket.write('S');
      const { certificate: cert, key } = certificates;
      socket = new TLSSocket(raw, { isServer: true, secureContext: createSecureContext({ cert, key }) });
      socket.on('error', () => {});
    }
    [first] = (await once(socket, 'data')) as [Buffer];
  }
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    record(chunk);
    if (login !== undefined) return;
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 5) {
      const length = pending.readInt32BE(1) + 1;
      if (pending.length < length) return;
      const message = pending.subarray(0, length);
      pending = pending.subarray(length);
      if (message[0] === 0x51) query?.(socket, message.subarray(5, -1).toString('utf8'));
      if (message[0] === 0x58) socket.end();
    }
  });
  if (login !== undefined) login(socket, first!);
  else socket.write(Buffer.concat([authentication(0), parameter('server_version', '17.0'), key(), ready()]));
}

export function message(kind: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
}

export function header(kind: string, length: number): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(length)]);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export const authentication = (code: number, ...more: readonly (string | Buffer)[]) =>
  message('R', int32(code), ...more);
export const parameter = (name: string, value: string) => message('S', `${name}\0${value}\0`);
export const key = () => message('K', int32(42), int32(43));
export const ready = (state = 'I') => message('Z', state);
export const notice = (text: string) => message('N', `SNOTICE\0VNOTICE\0C00000\0M${text}\0\0`);
export const error = (text: string, code = 'XX000') =>
  message('E', `SERROR\0VERROR\0C${code}\0M${text}\0D${text}\0H${text}\0\0`);

/** A row description with text columns, and rows of text. */
export function description(names: readonly string[]): Buffer {
  const columns = names.map((name) =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(25), int16(65_535), int32(-1), int16(0)]),
  );
  return message('T', int16(names.length), ...columns);
}

export function row(values: readonly string[]): Buffer {
  return message('D', int16(values.length), ...values.flatMap((value) => [int32(Buffer.byteLength(value)), value]));
}
