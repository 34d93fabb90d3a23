/**
 * Types for the parts of the package pg that this program uses; @types/pg describes neither this path nor these
 * members.
 */
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
    /** Whether to use SCRAM-SHA-256-PLUS if the server offers it. */
    readonly enableChannelBinding: boolean;
  }

  interface SimpleQuery {
    readonly text: string;
    readonly types: { readonly getTypeParser: () => (value: string) => string };
  }

  interface ResultSet {
    readonly rows: readonly Readonly<Record<string, string | null>>[];
  }

  /** The members of a stream that the message reader uses. */
  export interface Stream {
    on(event: string, listener: (...words: unknown[]) => void): unknown;
    destroy(error?: Error): unknown;
  }

  /** The connection of the package pg. Its methods are not bound, so they must be called on the connection object. */
  interface Connection extends EventEmitter {
    readonly stream: Duplex;
    attachListeners(stream: Stream): void;
    query(text: string): void;
    sendCopyFromChunk(chunk: Uint8Array): void;
    endCopyFrom(): void;
    sendCopyFail(reason: string): void;
  }

  /** A query object that handles the response messages itself; without `callback`, pg would search for one. */
  export interface Submittable {
    submit(connection: Connection): void;
    handleRowDescription(): void;
    handleDataRow(): void;
    handleCopyInResponse(connection: Connection): void;
    /** The bytes of `chunk` are valid only until the next message, which may overwrite them. */
    handleCopyData(message: { readonly chunk: Buffer }, connection: Connection): void;
    handleCommandComplete(message: { readonly text: string }): void;
    handleReadyForQuery(): void;
    handleError(error: unknown): void;
    readonly callback: () => void;
  }

  // biome-ignore lint/style/noDefaultExport: the package has a default export.
  export default class Client extends EventEmitter {
    constructor(options: ClientOptions);
    readonly processID: number | null;
    readonly connection: Connection;
    /** The parameters of the startup message. */
    getStartupConf(): Readonly<Record<string, string>>;
    connect(): Promise<unknown>;
    /** One result for one statement, or an array of results for several statements. */
    query(query: SimpleQuery): Promise<ResultSet | readonly ResultSet[]>;
    query(query: Submittable): void;
    end(): Promise<void>;
  }
}
