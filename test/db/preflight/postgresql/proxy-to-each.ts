import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Passes each connection to the next of the ports, as a load balancer does. */
export async function proxyToEach(
  ports: readonly number[],
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((client) => {
    // What connects and leaves without a message is not a connection of PostgreSQL.
    client.once('data', (first: Buffer) => {
      const upstream = connect(ports[next % ports.length] ?? 0, '127.0.0.1');
      next += 1;
      track(upstream);
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      upstream.write(first);
      client.pipe(upstream).pipe(client);
    });
    track(client);
  });
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
