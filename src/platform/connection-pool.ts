import type { Dispatcher } from 'undici';
import { createConnector } from './connector.ts';
import type { HttpProxy } from './proxy.ts';
import { Agent } from './undici.ts';

export interface ConnectionPoolOptions {
  readonly proxyFor: (url: URL) => HttpProxy | undefined;
  /** Milliseconds for a connection, including handshakes. */
  readonly connectLimit: number;
  readonly ca: string | undefined;
}

/** Connections, and the number of requests that use them. */
export interface ConnectionPool {
  /** Call once for each request. */
  acquire(): Dispatcher;
  /** Call once when its response was read or has failed. */
  release(): void;
  destroy(): Promise<void>;
}

export function createConnectionPool({ proxyFor, connectLimit, ca }: ConnectionPoolOptions): ConnectionPool {
  const connector = createConnector({ proxyFor, limit: connectLimit, ca });
  const agent = new Agent({
    connect: ({ protocol, hostname, port }, callback) => {
      connector.connect({ protocol, hostname, port }).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
    // Each request has its own deadline; the timeouts of undici are imprecise.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let requests = 0;
  return {
    acquire() {
      requests += 1;
      return agent;
    },
    release() {
      requests -= 1;
      // A connection attempt without a request would keep the process alive until its deadline.
      if (requests === 0) connector.abandon();
    },
    destroy: () => agent.destroy(),
  };
}
