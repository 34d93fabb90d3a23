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

  interface Connection extends EventEmitter {
    readonly stream: Duplex;
    attachListeners(stream: Stream): void;
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
    end(): Promise<void>;
  }
}
