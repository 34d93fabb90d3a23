/** What is used of ioredis; its own types know no connector but a subclass of theirs. */
declare module 'ioredis/built/index.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex } from 'node:stream';

  interface Connector {
    connect(): Promise<Duplex>;
    disconnect(): void;
    check(): boolean;
  }

  interface Options {
    /** Called with `new`; what it returns is the connector. */
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

  /** What the server answers with a minus. */
  export class ReplyError extends Error {}

  export class Redis extends EventEmitter {
    constructor(options: Options);
    connect(): Promise<void>;
    disconnect(): void;
    /** The reply with texts as strings. */
    call(name: string, ...words: readonly (string | Uint8Array)[]): Promise<unknown>;
    /** The reply with texts as bytes. */
    callBuffer(name: string, ...words: readonly (string | Uint8Array)[]): Promise<unknown>;
  }
}
