import { createServer, type Server } from 'node:net';

/** Ports that are free on both loopback addresses, all at once. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const server = createServer();
    servers.push(server);
    if (!(await listens(server, '::1', 0))) throw new Error('this machine has no ::1');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const other = createServer();
    servers.push(other);
    if (await listens(other, '127.0.0.1', port)) ports.push(port);
  }
  await Promise.all(servers.map(close));
  return ports;
}

/** Whether the port of a callback URL can be listened on. */
export async function isFree(callbackUrl: string): Promise<boolean> {
  const { hostname } = new URL(callbackUrl);
  const addresses = { localhost: ['127.0.0.1', '::1'], '[::1]': ['::1'] }[hostname] ?? [hostname];
  const results = await Promise.all(
    addresses.map(async (address) => {
      const server = createServer();
      const free = await listens(server, address, portOf(callbackUrl));
      await close(server);
      return free;
    }),
  );
  return results.every((free) => free);
}

export function portOf(address: string): number {
  return Number(new URL(address).port);
}

function listens(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host, port }, () => resolve(true));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
