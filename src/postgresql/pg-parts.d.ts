/** What is used of pg's client; @types/pg describes neither this path nor these members. */
declare module 'pg/lib/client.js' {
  import type { EventEmitter } from 'node:events';
  import type { Duplex } from 'node:stream';
  import type { ConnectionOptions } from 'node:tls';

  interface ClientOptions {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
    readonly password: () => string;
    readonly ssl: false | ConnectionOptions;
    readonly sslnegotiation: 'postgres';
    readonly stream: () => Duplex;
    readonly keepAlive: boolean;
    readonly scramMaxIterations: number;
    /** SCRAM-SHA-256-PLUS is used where the server offers it. */
    readonly enableChannelBinding: boolean;
  }

  interface SimpleQuery {
    readonly text: string;
    readonly types: { readonly getTypeParser: () => (value: string) => string };
  }

  interface ResultSet {
    readonly rows: readonly Readonly<Record<string, string | null>>[];
  }

  /** As much of a stream as the reader of messages uses. */
  export interface Stream {
    on(event: string, listener: (...words: unknown[]) => void): unknown;
    destroy(error?: Error): unknown;
  }

  /** Its members are not bound: they are called on it. */
  interface Connection extends EventEmitter {
    readonly stream: Duplex;
    attachListeners(stream: Stream): void;
    query(text: string): void;
    sendCopyFromChunk(chunk: Uint8Array): void;
    endCopyFrom(): void;
    sendCopyFail(reason: string): void;
  }

  /** A question that reads the answers by itself; `callback` must be there, or pg looks for one. */
  export interface Submittable {
    submit(connection: Connection): void;
    handleRowDescription(): void;
    handleDataRow(): void;
    handleCopyInResponse(connection: Connection): void;
    /** The bytes are overwritten by later ones. */
    handleCopyData(message: { readonly chunk: Buffer }, connection: Connection): void;
    handleCommandComplete(message: { readonly text: string }): void;
    handleReadyForQuery(): void;
    handleError(error: unknown): void;
    readonly callback: () => void;
  }

  // biome-ignore lint/style/noDefaultExport: it describes what the package exports.
  export default class Client extends EventEmitter {
    constructor(options: ClientOptions);
    readonly processID: number | null;
    readonly connection: Connection;
    /** The parameters of the startup message. */
    getStartupConf(): Readonly<Record<string, string>>;
    connect(): Promise<unknown>;
    /** One result for one statement, an array of them for several. */
    query(query: SimpleQuery): Promise<ResultSet | readonly ResultSet[]>;
    query(query: Submittable): void;
    end(): Promise<void>;
  }
}
