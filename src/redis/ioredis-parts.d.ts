/**
 * Types for the parts of ioredis that this program uses; the types of ioredis accept only subclasses of its own
 * connector.
 */
declare module 'ioredis/built/index.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex } from 'node:stream';

  interface Connector {
    connect(): Promise<Duplex>;
    disconnect(): void;
    check(): boolean;
  }

  interface Options {
    /** ioredis calls this function with `new`; the returned object is the connector. */
    readonly Connector: () => Connector;
    readonly protocol: 2;
    readonly lazyConnect: true;
    readonly retryStrategy: null;
    readonly enableReadyCheck: false;
    readonly enableOfflineQueue: false;
    readonly disableClientInfo: true;
    readonly autoResubscribe: false;
    readonly autoResendUnfulfilledCommands: false;
    readonly maxRetriesPerRequest: null;
  }

  /** An error reply of the server, which begins with a minus. */
  export class ReplyError extends Error {}

  export class Redis extends EventEmitter {
    constructor(options: Options);
    connect(): Promise<void>;
    disconnect(): void;
    /** Sends a command and returns texts of the reply as strings. */
    call(name: string, ...words: readonly (string | Uint8Array)[]): Promise<unknown>;
    /** Sends a command and returns texts of the reply as bytes. */
    callBuffer(name: string, ...words: readonly (string | Uint8Array)[]): Promise<unknown>;
  }
}
