import type { Dispatcher } from 'undici';
// Only the used part of undici: loading the whole package takes 1.5 times as long.
import Agent from 'undici/lib/dispatcher/agent.js';
import { createConnector } from './connector.ts';
import type { HttpProxy } from './proxy.ts';
import type { Trust } from './trust.ts';

export interface PoolOptions {
  readonly proxyFor: (url: URL) => HttpProxy | undefined;
  /** Time limit for establishing a connection including its handshakes, in milliseconds. */
  readonly connectLimit: number;
  readonly trust: Trust;
}

/** A pool of HTTP connections, with the number of requests that use it. */
export interface ConnectionPool {
  /** The caller calls `acquire` once for each request. */
  acquire(): Dispatcher;
  /** The caller calls `release` once when the response was read or has failed. */
  release(): void;
  destroy(): Promise<void>;
}

export function createPool({ proxyFor, connectLimit, trust }: PoolOptions): ConnectionPool {
  const connector = createConnector({ proxyFor, limit: connectLimit, trust });
  const agent = new Agent({
    connect: ({ protocol, hostname, port }, callback) => {
      connector.connect({ protocol, hostname, port }).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
    // The timeouts of undici are disabled, because they are imprecise and each request has its own deadline.
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
      // When no request is left, connection attempts are ended, because they would keep the process running until their
      // deadline.
      if (requests === 0) connector.abandon();
    },
    destroy: () => agent.destroy(),
  };
}
