import { createServer } from 'node:net';
import {
  buildCallbackPortProbeMapKey,
  type CallbackListenAddresses,
  type CallbackPortProbeResult,
  loopbackAddresses,
} from './check-login-callback-ports.ts';

/** Binds each callback port on each loopback address and closes the socket again, one after the other. */
export async function probeCallbackPorts(
  callbacks: readonly CallbackListenAddresses[],
): Promise<ReadonlyMap<string, CallbackPortProbeResult>> {
  const bindings = new Map<string, CallbackPortProbeResult>();
  for (const { port, addresses } of callbacks) {
    for (const address of new Set([...addresses, ...loopbackAddresses])) {
      const key = buildCallbackPortProbeMapKey(address, port);
      if (port !== 0 && !bindings.has(key)) bindings.set(key, await probePort(address, port));
    }
  }
  return bindings;
}

function probePort(host: string, port: number): Promise<CallbackPortProbeResult> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    // The port check uses the same socket options as a login, so that both get the same result.
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => server.close(() => resolve('free')));
  });
}
