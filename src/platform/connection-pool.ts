import type { Dispatcher } from 'undici';
import { createConnector } from './connector.ts';
import type { HttpProxy } from './proxy.ts';
import { Agent } from './undici.ts';

export interface ConnectionPoolOptions {
  readonly proxyFor: (url: URL) => HttpProxy | undefined;
  /** Milliseconds to make a connection, handshakes included. */
  readonly connectLimit: number;
  readonly ca: string | undefined;
}

/** Connections of requests, and how many requests are on them. */
export interface ConnectionPool {
  /** To be called once for each request. */
  acquire(): Dispatcher;
  /** To be called once its answer was read, or failed. */
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
    // Every request brings its own deadline, and undici's are coarse.
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
      // A connection nobody waits for any more would keep the process alive until its deadline.
      if (requests === 0) connector.abandon();
    },
    destroy: () => agent.destroy(),
  };
}
