/** A column of an inventory in CSV format. A line without CSV has a value for the column `url` or `service` only. */
export interface SourceInventoryInputColumn {
  readonly name: string;
  /** The command-line option whose value the column replaces for the source of the line. */
  readonly option?: string;
  readonly description: string;
}

export const sourceInventoryInputColumns: readonly SourceInventoryInputColumn[] = [
  { name: 'url', description: '`postgres://USER@HOST:PORT/DBNAME` or `rediss://HOST:PORT`' },
  { name: 'service', description: 'service name of pg_service.conf' },
  { name: 'name', description: 'name of the source in reports (default: the URL without its password)' },
  { name: 'engine', description: '`postgresql` (default) or `redis`, with `host`' },
  { name: 'host', description: 'host name or address, instead of `url`' },
  { name: 'port', description: 'port (default: 5432 or 6379)' },
  { name: 'dbname', description: 'database to connect to' },
  { name: 'user', description: 'user name' },
  { name: 'sslmode', description: 'sslmode of PostgreSQL; `disable` also for Redis' },
  { name: 'ca_file', description: 'CA certificates for the source (PEM file)' },
  { name: 'scope', option: 'scope', description: '`server`: all databases; `database`: only the one that is named' },
  { name: 'ignore_dbs', option: 'ignore-dbs', description: 'databases that are not migrated, as `"a,b"`' },
  { name: 'method', option: 'method', description: '`continuous`, `dump` or `scan`' },
  { name: 'target_version', option: 'target-version', description: 'version of the target' },
  { name: 'target_extensions', option: 'target-extensions', description: 'extensions of the target, as `"a,b"`' },
  { name: 'target_memory', option: 'target-memory', description: 'memory of a Redis target in bytes' },
  { name: 'source_disk_free', option: 'source-disk-free', description: 'free disk space of the source in bytes' },
  { name: 'accept', option: 'accept', description: 'ids of findings to accept, as `"a,b"`' },
  {
    name: 'password_command',
    description: 'program that prints the password, as a JSON array: `"[""pass"",""show"",""db1""]"`',
  },
];

/** The values of one source by column; empty cells are left out. */
export type SourceInventoryInputCells = Readonly<Record<string, string>>;
