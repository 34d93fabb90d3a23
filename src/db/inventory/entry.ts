import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { usageError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { findPgService, quoteConnectionValue } from '../../postgresql/connection-string.ts';
import { type EndpointOptions, parsePostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { addPassword, parseRedisEndpoint, type RedisEndpointInput } from '../../redis/endpoint.ts';
import { type PreflightOptions, readPreflightOptions, rejectUnknownIds } from '../preflight/index.ts';
import { postgresqlChecks } from '../preflight/postgresql/checks.ts';
import { redisChecks } from '../preflight/redis/checks.ts';

import { type DbSource, sourceUrlText } from '../source/index.ts';
import { parsePasswordCommand } from './run-password-command.ts';

/** `server`: all databases that are not ignored, as with `--source`; `database`: only the one that the source names. */
export type Scope = 'server' | 'database';

/** One source of an inventory. */
export interface Entry {
  readonly line: number;
  readonly name: string;
  /** Without a password. */
  readonly url: string;
  readonly options: PreflightOptions;
  readonly scope: Scope;
  readonly passwordCommand: readonly string[] | undefined;
  /** The source as the line names it; it has a password only if the URL has one. */
  readonly source: DbSource;
  /** The source with this password, for a source without one. */
  readonly withPassword: (password: Secret | undefined) => DbSource;
}

type ParsedSource = Pick<Entry, 'source' | 'withPassword'>;

export interface EntryInput {
  readonly args: ParsedArgs;
  readonly settings: ProfileSettings;
  readonly env: ProcessEnvironment;
  readonly readText: (path: string) => string | undefined;
  /** The current time in milliseconds since the epoch. */
  readonly now: number;
  /** Why a password in the URL of a source is refused; undefined if it is permitted. */
  readonly passwordRefusal: string | undefined;
  /** Why `password_command` is refused; undefined if it is permitted. */
  readonly commandRefusal: string | undefined;
}

/** Builds the entry of one line. Throws a CliError (usage) that quotes no password. */
export function buildEntry(cells: Cells, line: number, input: EntryInput): Entry {
  const { settings, now } = input;
  const { source, withPassword } = parseSource(cells, input);
  if (cells.url !== undefined && source.source.password !== undefined && input.passwordRefusal !== undefined)
    throw usageError(input.passwordRefusal);
  if (cells.password_command !== undefined && input.commandRefusal !== undefined)
    throw usageError(input.commandRefusal);
  const args = overrideArgs(input.args, cells);
  const { engine } = source;
  const options = readPreflightOptions(args, engine, settings, now);
  if (engine === 'redis' && args.values('ignore-dbs').length > 0)
    throw usageError('ignore_dbs cannot be used with Redis');
  const ids = (engine === 'redis' ? redisChecks : postgresqlChecks).map(({ id }) => id);
  rejectUnknownIds(options.accept, ids, nearestWord);
  const scope = readScope(args.value('scope'), cells, engine);
  const url = sourceUrlText(source);
  return {
    line,
    name: cells.name ?? url,
    url,
    options,
    scope,
    passwordCommand: parsePasswordCommand(cells.password_command ?? args.value('password-command')),
    source,
    withPassword,
  };
}

function parseSource(cells: Cells, input: EntryInput): ParsedSource {
  const ways = ['url', 'service', 'host'].filter((name) => cells[name] !== undefined);
  if (ways.length !== 1) throw usageError(`the source needs one of url, service and host, and has ${ways.length}`);
  const extra = ['engine', 'port', 'dbname', 'user', 'sslmode'].find((name) => cells[name] !== undefined);
  if (extra !== undefined && ways[0] !== 'host')
    throw usageError(`${extra} cannot be used with ${ways[0]}: it belongs into the ${ways[0]}`);
  const engine = readInventoryEngine(cells);
  return engine === 'redis' ? parseRedisCells(cells, input) : parsePostgresqlCells(cells, input);
}

function readInventoryEngine({ url, engine }: Cells): DbSource['engine'] {
  if (url === undefined) {
    if (engine !== undefined && engine !== 'postgresql' && engine !== 'redis')
      throw usageError('the engine is neither postgresql nor redis');
    return engine ?? 'postgresql';
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return 'postgresql';
  if (scheme !== undefined && /^(rediss?|valkeys?)$/.test(scheme)) return 'redis';
  throw usageError('the URL begins neither with postgres:// nor with redis:// or rediss://');
}

function parsePostgresqlCells(cells: Cells, input: EntryInput): ParsedSource {
  const { args, env } = input;
  const options: EndpointOptions = {
    source: cells.url ?? serviceOf(cells, env) ?? connectionString(cells),
    caFile: cells.ca_file ?? args.value('ca-file'),
    disableSsl: args.has('disable-ssl') ? true : undefined,
    allowCleartextPassword: args.has('allow-cleartext-password'),
  };
  const { source } = parsePostgresqlEndpoint(options, input.readText);
  return {
    source: { engine: 'postgresql', source },
    withPassword: (password) => ({ engine: 'postgresql', source: { ...source, password } }),
  };
}

function serviceOf({ service }: Cells, env: ProcessEnvironment): string | undefined {
  if (service === undefined) return undefined;
  const found = findPgService(service, env);
  if (found === undefined)
    throw usageError('it is no URL, and no service file has a service of this name (pg_service.conf)');
  return found;
}

function connectionString({ host, port, dbname, user, sslmode }: Cells): string {
  const parts = { host, port, dbname, user, sslmode };
  return Object.entries(parts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoteConnectionValue(value)}`]))
    .join(' ');
}

function parseRedisCells(cells: Cells, { args, readText }: EntryInput): ParsedSource {
  if (cells.dbname !== undefined) throw usageError('dbname cannot be used with Redis: all databases are migrated');
  const caFile = cells.ca_file ?? args.value('ca-file');
  const pem = caFile === undefined ? undefined : readText(caFile);
  if (caFile !== undefined && pem === undefined) throw usageError('the CA file does not exist');
  if (cells.port !== undefined && !/^\d{1,5}$/.test(cells.port))
    throw usageError('the port is not a number from 1 to 65535');
  const given: RedisEndpointInput = {
    url: cells.url,
    host: cells.host,
    port: cells.port === undefined ? undefined : Number(cells.port),
    username: cells.user,
    disableSsl: cells.sslmode === 'disable' || args.has('disable-ssl') ? true : undefined,
    ca: caFile === undefined || pem === undefined ? undefined : { file: caFile, pem },
  };
  const parsed = parseRedisEndpoint(given);
  return {
    source: { engine: 'redis', source: parsed.source },
    withPassword: (password) => ({ engine: 'redis', source: addPassword(parsed, password) }),
  };
}

function readScope(text: string | undefined, cells: Cells, engine: DbSource['engine']): Scope {
  if (text !== undefined && text !== 'server' && text !== 'database')
    throw usageError('the scope is neither server nor database');
  if (text !== 'database') return 'server';
  if (engine === 'redis' && cells.scope !== undefined)
    throw usageError('the scope database cannot be used with Redis: all databases are migrated');
  if (cells.ignore_dbs !== undefined) throw usageError('ignore_dbs cannot be used with the scope database');
  return engine === 'redis' ? 'server' : 'database';
}

/** The command-line options, with the values from the columns of the source in the CSV file in place of their own. */
function overrideArgs(args: ParsedArgs, cells: Cells): ParsedArgs {
  const byOption = new Map([
    // The command has no such option: databases of different servers have little in common.
    ['ignore-dbs', ''],
    ...csvColumns.flatMap(({ name, option }): [string, string][] =>
      option === undefined || cells[name] === undefined ? [] : [[option, cells[name]]],
    ),
  ]);
  const listOf = (text: string) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  return {
    positionals: [],
    value: (option) => byOption.get(option) ?? args.value(option),
    values: (option) => {
      const own = byOption.get(option);
      return own === undefined ? args.values(option) : listOf(own);
    },
    has: (option) => byOption.has(option) || args.has(option),
  };
}

/** A column of an inventory in CSV format. A line without CSV has a value for the column `url` or `service` only. */
export interface Column {
  readonly name: string;
  /** The command-line option whose value the column replaces for the source of the line. */
  readonly option?: string;
  readonly description: string;
}

export const csvColumns: readonly Column[] = [
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
  { name: 'target_extensions', option: 'target-extensions', description: 'extensions of the target, as `"a,b=1.6"`' },
  { name: 'target_memory', option: 'target-memory', description: 'memory of a Redis target in bytes' },
  { name: 'source_disk_free', option: 'source-disk-free', description: 'free disk space of the source in bytes' },
  { name: 'accept', option: 'accept', description: 'ids of findings to accept, as `"a,b"`' },
  {
    name: 'password_command',
    description: 'program that prints the password, as a JSON array: `"[""pass"",""show"",""db1""]"`',
  },
];

/** The values of one source by column; empty cells are left out. */
export type Cells = Readonly<Record<string, string>>;

/** Bytes of a file with CA certificates: the bundles of operating systems have a quarter of that. */
const maxCertificateBytes = 1024 * 1024;

/**
 * Reads the files with CA certificates that lines of an inventory name, each once; returns undefined for a file that does not exist.
 * A device or a named pipe could be read without end. Throws a CliError (usage).
 */
export function createCertificateReader(): (path: string) => string | undefined {
  const texts = new Map<string, string | undefined>();
  return (path) => {
    if (!texts.has(path)) texts.set(path, readCertificateFile(path));
    return texts.get(path);
  };
}

function readCertificateFile(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK the program would wait for a writer of a named pipe.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw usageError('the CA file is not a regular file');
    if (found.size > maxCertificateBytes)
      throw usageError(`the CA file is larger than ${maxCertificateBytes / 1024 / 1024} MiB`);
    // OpenSSL ignores a certificate after a byte order mark.
    return readFileSync(descriptor, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw usageError(`could not read the CA file: ${String(error.code)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
