export interface PostgresOptions {
  /** The major, 18 unless told. */
  readonly version?: Major;
  /** Lines of postgresql.conf; they win over those that make the server quick and quiet. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Lines of pg_hba.conf after the one for the socket; everybody with a password unless told. */
  readonly hba?: readonly string[];
  /** Of the superuser `postgres`; a random one unless told. */
  readonly password?: string;
  /** Files in the data folder, by name, as a certificate is. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files and folders of its time zones that are missing, such as `US`. */
  readonly withoutZones?: readonly string[];
}

export type Major = 12 | 13 | 14 | 15 | 16 | 17 | 18;

export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  /** Where its socket is. */
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  /** Of the postmaster. */
  pid(): number;
  /** As its superuser, through the socket; the rows of the last statement. */
  query<Row = Record<string, unknown>>(sql: string, database?: string): Promise<Row[]>;
  /** A file of the data folder. */
  read(name: string): string;
  write(name: string, text: string): void;
  /** A fast one: connections end. */
  restart(): Promise<void>;
  /** Ends it without a checkpoint, as a crash does. */
  crash(): Promise<void>;
  /** Starts it again after crash(). */
  start(): Promise<void>;
  /** All that it has logged, since the beginning. */
  log(): string;
  stop(): Promise<void>;
}

export function startPostgres(options?: PostgresOptions): Promise<PostgresServer>;
