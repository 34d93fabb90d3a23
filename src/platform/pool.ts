import type { Dispatcher } from 'undici';
import { createConnector } from './connect.ts';
import type { HttpProxy } from './proxy.ts';
import { Agent } from './undici.ts';

export interface PoolOptions {
  readonly proxyFor: (url: URL) => HttpProxy | undefined;
  /** Milliseconds to make a connection, handshakes included. */
  readonly connectLimit: number;
  readonly ca: string | undefined;
}

/** Connections of requests, and how many requests are on them. */
export interface Pool {
  /** To be called once for each request. */
  enter(): Dispatcher;
  /** To be called once its answer was read, or failed. */
  leave(): void;
  destroy(): Promise<void>;
}

export function createPool({ proxyFor, connectLimit, ca }: PoolOptions): Pool {
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
    enter() {
      requests += 1;
      return agent;
    },
    leave() {
      requests -= 1;
      // A connection nobody waits for any more would keep the process alive until its deadline.
      if (requests === 0) connector.abandon();
    },
    destroy: () => agent.destroy(),
  };
}
