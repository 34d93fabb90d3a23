import { usageError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { nearestWord } from '../cli/nearest-word.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import { buildSourceUrlWithoutPassword } from '../db-source/build-source-url-without-password.ts';
import type { DbSource } from '../db-source/read-source.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import { type PostgresqlEndpointOptions, parsePostgresqlEndpoint } from '../postgresql/endpoint.ts';
import {
  findPgServiceConnectionString,
  quoteConnectionValue,
} from '../postgresql/find-pg-service-connection-string.ts';
import { readPreflightOptions } from '../preflight/option-specs.ts';
import { postgresqlChecks } from '../preflight/postgresql/checks.ts';
import type { PreflightOptions } from '../preflight/preflight-options.ts';
import { redisChecks } from '../preflight/redis/checks.ts';
import { rejectUnknownCheckIds } from '../preflight/unknown-check-ids.ts';
import { parseRedisEndpoint, type RedisEndpointInput } from '../redis/endpoint.ts';
import { parsePasswordCommand } from './run-password-command.ts';
import { type SourceInventoryInputCells, sourceInventoryInputColumns } from './source-inventory-input-columns.ts';

/** `server`: all databases that are not ignored, as with `--source`; `database`: only the one that the source names. */
export type InventoryDatabaseScope = 'server' | 'database';

/** One source of an inventory. */
export interface SourceInventoryEntry {
  readonly line: number;
  readonly name: string;
  /** Without a password. */
  readonly url: string;
  readonly options: PreflightOptions;
  readonly scope: InventoryDatabaseScope;
  readonly passwordCommand: readonly string[] | undefined;
  /** Returns the source with the password of its URL; if the URL has no password, with the given password. */
  readonly withPassword: (password: Secret | undefined) => DbSource;
}

export interface SourceInventoryEntryInput {
  readonly args: ParsedArgs;
  readonly settings: ResolvedProfileSettings;
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
export function buildSourceInventoryEntry(
  cells: SourceInventoryInputCells,
  line: number,
  input: SourceInventoryEntryInput,
): SourceInventoryEntry {
  const { settings, now } = input;
  const withPassword = parseSource(cells, input);
  const source = withPassword(undefined);
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
  rejectUnknownCheckIds(options.accept, ids, nearestWord);
  const scope = readScope(args.value('scope'), cells, engine);
  const url = buildSourceUrlWithoutPassword(source);
  return {
    line,
    name: cells.name ?? url,
    url,
    options,
    scope,
    passwordCommand: parsePasswordCommand(cells.password_command ?? args.value('password-command')),
    withPassword,
  };
}

function parseSource(
  cells: SourceInventoryInputCells,
  input: SourceInventoryEntryInput,
): SourceInventoryEntry['withPassword'] {
  const ways = ['url', 'service', 'host'].filter((name) => cells[name] !== undefined);
  if (ways.length !== 1) throw usageError(`the source needs one of url, service and host, and has ${ways.length}`);
  const extra = ['engine', 'port', 'dbname', 'user', 'sslmode'].find((name) => cells[name] !== undefined);
  if (extra !== undefined && ways[0] !== 'host')
    throw usageError(`${extra} cannot be used with ${ways[0]}: it belongs into the ${ways[0]}`);
  const engine = readInventoryEngine(cells);
  return engine === 'redis' ? parseRedisCells(cells, input) : parsePostgresqlCells(cells, input);
}

function readInventoryEngine({ url, engine }: SourceInventoryInputCells): DbSource['engine'] {
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

function parsePostgresqlCells(
  cells: SourceInventoryInputCells,
  input: SourceInventoryEntryInput,
): SourceInventoryEntry['withPassword'] {
  const { args, env } = input;
  const options: PostgresqlEndpointOptions = {
    source: cells.url ?? serviceOf(cells, env) ?? connectionString(cells),
    caFile: cells.ca_file ?? args.value('ca-file'),
    disableSsl: args.has('disable-ssl') ? true : undefined,
    allowCleartextPassword: args.has('allow-cleartext-password'),
  };
  const { source } = parsePostgresqlEndpoint(options, input.readText);
  return (password) => ({ engine: 'postgresql', source: { ...source, password: source.password ?? password } });
}

function serviceOf({ service }: SourceInventoryInputCells, env: ProcessEnvironment): string | undefined {
  if (service === undefined) return undefined;
  const found = findPgServiceConnectionString(service, env);
  if (found === undefined)
    throw usageError('it is no URL, and no service file has a service of this name (pg_service.conf)');
  return found;
}

function connectionString({ host, port, dbname, user, sslmode }: SourceInventoryInputCells): string {
  const parts = { host, port, dbname, user, sslmode };
  return Object.entries(parts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoteConnectionValue(value)}`]))
    .join(' ');
}

function parseRedisCells(
  cells: SourceInventoryInputCells,
  { args, readText }: SourceInventoryEntryInput,
): SourceInventoryEntry['withPassword'] {
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
  const { source } = parseRedisEndpoint(given);
  // A password in the URL takes precedence here, but parseRedisEndpoint would prefer the given password.
  return (password) => ({
    engine: 'redis',
    source: source.password === undefined ? parseRedisEndpoint({ ...given, password }).source : source,
  });
}

function readScope(
  text: string | undefined,
  cells: SourceInventoryInputCells,
  engine: DbSource['engine'],
): InventoryDatabaseScope {
  if (text !== undefined && text !== 'server' && text !== 'database')
    throw usageError('the scope is neither server nor database');
  if (text !== 'database') return 'server';
  if (engine === 'redis' && cells.scope !== undefined)
    throw usageError('the scope database cannot be used with Redis: all databases are migrated');
  if (cells.ignore_dbs !== undefined) throw usageError('ignore_dbs cannot be used with the scope database');
  return engine === 'redis' ? 'server' : 'database';
}

/** The command-line options, with the values from the columns of the source in the CSV file in place of their own. */
function overrideArgs(args: ParsedArgs, cells: SourceInventoryInputCells): ParsedArgs {
  const byOption = new Map([
    // The command has no such option: databases of different servers have little in common.
    ['ignore-dbs', ''],
    ...sourceInventoryInputColumns.flatMap(({ name, option }): [string, string][] =>
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
