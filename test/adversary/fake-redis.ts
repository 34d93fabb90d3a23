import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { drip, flood, garbage, hostileText, zeros } from './bad-bytes.ts';

/** What a server does at each command that arrives (RESP, https://redis.io/docs/latest/develop/reference/protocol-spec/). */
export interface FakeRedisBehaviour {
  readonly name: string;
  readonly command: (socket: Socket, text: string) => void;
}

export interface FakeRedis {
  readonly port: number;
  received(): Buffer;
  stop(): Promise<void>;
}

export async function startFakeRedis({ command }: FakeRedisBehaviour): Promise<FakeRedis> {
  const sockets = new Set<Socket>();
  const chunks: Buffer[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      // A client may send several commands at once.
      for (const text of chunk.toString('latin1').split(/(?=\*\d+\r\n\$)/)) command(socket, text);
    });
  });
  server.listen(0, '127.0.0.1');
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

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

/** Starts with `first`, then floods. */
const begin = (first: string, then: Buffer) => (socket: Socket) => {
  socket.write(first);
  flood(socket, then);
};

export const fakeRedisBehaviours: readonly FakeRedisBehaviour[] = [
  { name: 'is silent', command: () => {} },
  { name: 'closes', command: (socket) => socket.destroy() },
  { name: 'speaks HTTP', command: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
  { name: 'sends garbage', command: (socket) => flood(socket, garbage) },
  { name: 'sends zeros', command: (socket) => flood(socket, zeros) },
  { name: 'announces a text of 2 GB', command: begin('$2147483647\r\n', zeros) },
  { name: 'announces a text of endless digits', command: begin('$', Buffer.from('9')) },
  { name: 'announces a negative text', command: (socket) => socket.write('$-5\r\n') },
  { name: 'announces 2 billion values', command: begin('*2147483647\r\n', Buffer.from(':1\r\n')) },
  { name: 'announces 2 billion pairs', command: begin('%2147483647\r\n', Buffer.from('+a\r\n')) },
  { name: 'nests lists endlessly', command: (socket) => flood(socket, Buffer.from('*1\r\n')) },
  { name: 'nests two lists endlessly', command: (socket) => flood(socket, Buffer.from('*2\r\n')) },
  { name: 'sends an endless line', command: begin('+', Buffer.from('x')) },
  { name: 'sends an endless error', command: begin('-ERR ', Buffer.from('x')) },
  { name: 'sends endless replies', command: (socket) => flood(socket, Buffer.from('+OK\r\n')) },
  { name: 'sends endless errors', command: (socket) => flood(socket, Buffer.from('-ERR no\r\n')) },
  { name: 'sends endless pushes', command: (socket) => flood(socket, Buffer.from('>2\r\n+a\r\n+b\r\n')) },
  { name: 'drips a reply', command: (socket) => drip(socket, Buffer.from('+OK\r\n')) },
  { name: 'drips a text', command: (socket) => drip(socket, Buffer.from(`$100000\r\n${'x'.repeat(100_000)}\r\n`), 20) },
  {
    name: 'fails with control characters',
    command: (socket) => socket.write(`-ERR ${hostileText.replaceAll(/[\r\n]/g, ' ')}\r\n`),
  },
  { name: 'moves elsewhere', command: (socket) => socket.write('-MOVED 0 192.0.2.1:6379\r\n') },
  { name: 'answers everything with hostile text', command: (socket) => socket.write(bulk(hostileText)) },
  {
    name: 'answers everything with a list',
    command: (socket) => socket.write(`*3\r\n${bulk(hostileText)}${bulk(hostileText)}*0\r\n`),
  },
  {
    name: 'has hostile settings',
    command: (socket, text) => {
      const name = /\$\d+\r\n(\w+)/.exec(text)?.[1]?.toUpperCase();
      const info = [
        '# Server',
        'redis_version:7.2.0',
        'run_id:x',
        `executable:${hostileText.replaceAll(/[\r\n]/g, '\t')}`,
        `os:${hostileText}`,
        'role:master',
        'used_memory:1',
        'maxmemory:0',
        'master_replid:x',
        'db0:keys=1,expires=0',
        `db1:${hostileText}`,
      ].join('\r\n');
      if (name === 'INFO') socket.write(bulk(info));
      else if (name === 'CONFIG')
        socket.write(
          `*4\r\n${bulk('dir')}${bulk(`/tmp/$(touch x)\`touch x\`${hostileText}`)}${bulk(hostileText)}${bulk(hostileText)}`,
        );
      else if (name === 'PING') socket.write('+PONG\r\n');
      else socket.write('+OK\r\n');
    },
  },
];
