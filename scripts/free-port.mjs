import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Of a server that may restart: below the ports that the system gives to outgoing connections (from 32768), one of which could take it meanwhile. */
export function freePort() {
  return freePortBetween(11_000, 32_000);
}

/** Stays closed: above the ports that Linux gives to connections, and to servers that leave the choice to the system. */
export function closedPort() {
  return freePortBetween(61_000, 65_536);
}

async function freePortBetween(lowest, end) {
  for (;;) {
    const port = randomInt(lowest, end);
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
