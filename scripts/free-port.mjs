import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Of a server that may restart: below the ports that the system gives to outgoing connections (from 32768), one of which could
 * take it meanwhile. Redis takes the port 10,000 above its own for the bus of a cluster, so that one is free, too.
 */
export async function freePort() {
  for (;;) {
    const port = await freePortBetween(11_000, 22_000);
    if (await isFree(port + 10_000)) return port;
  }
}

/** Stays closed: above the ports that Linux gives to connections, and to servers that leave the choice to the system. */
export function closedPort() {
  return freePortBetween(61_000, 65_536);
}

async function freePortBetween(lowest, end) {
  for (;;) {
    const port = randomInt(lowest, end);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)));
  });
}
