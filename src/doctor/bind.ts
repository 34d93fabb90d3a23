import { createServer } from 'node:net';
import { type Binding, bindingKey, type Callback, families } from './ports.ts';

/** Binds every port on every address for a moment, one after the other. */
export async function bindAll(callbacks: readonly Callback[]): Promise<ReadonlyMap<string, Binding>> {
  const bindings = new Map<string, Binding>();
  for (const { port, addresses } of callbacks) {
    for (const address of new Set([...addresses, ...families])) {
      const key = bindingKey(address, port);
      if (port !== 0 && !bindings.has(key)) bindings.set(key, await bind(address, port));
    }
  }
  return bindings;
}

function bind(host: string, port: number): Promise<Binding> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    // The same way in which a login listens, so that both are told the same.
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => server.close(() => resolve('free')));
  });
}
