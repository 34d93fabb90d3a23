import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'vitest';

export interface Relay {
  readonly origin: string;
  /** Of the next connection only half of the request goes on; then `then` is called and the connection is cut. */
  halve(then: () => void): void;
  /** Connections that were cut so. */
  halves(): number;
}

/** Stands before a server that looks at the Host header, which it therefore rewrites. */
export async function startRelay(target: string, test: Pick<TestContext, 'onTestFinished'>): Promise<Relay> {
  const sockets = new Set<Socket>();
  let options: (() => void) | undefined;
  let cut = 0;
  const { host, hostname, port } = new URL(target);
  const server = createServer((client) => {
    keep(client, sockets);
    client.once('data', (head: Buffer) => {
      const upstream = keep(connect(Number(port), hostname), sockets);
      const request = Buffer.from(head.toString('latin1').replace(/^host: .*$/im, `host: ${host}`), 'latin1');
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      if (options !== undefined) {
        const then = options;
        options = undefined;
        upstream.write(request.subarray(0, request.length / 2), () => {
          cut += 1;
          then();
          client.destroy();
        });
        return;
      }
      upstream.write(request);
      client.pipe(upstream);
      upstream.pipe(client);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    halve: (then) => {
      options = then;
    },
    halves: () => cut,
  };
}

function keep(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
  return socket;
}
