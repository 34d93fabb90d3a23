import { text as readAll } from 'node:stream/consumers';
import { usageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { ArgumentSpec, OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { readUserFile } from '../../cli/user-file.ts';
import { variableValue } from '../../config/settings.ts';
import { type PostgresqlEndpoint, parsePostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { findPgPassword } from '../../postgresql/pgpass.ts';
import { addPassword, parseRedisEndpoint, type RedisEndpoint } from '../../redis/endpoint.ts';

const sourceOptions: readonly OptionSpec[] = [
  { name: 'source', valueName: 'URL', description: 'Source: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT' },
  {
    name: 'engine',
    valueName: 'ENGINE',
    description: 'Engine of the source, with --host instead of --source',
    choices: ['postgresql', 'redis'],
  },
  { name: 'host', valueName: 'HOST', description: 'Host name or address of the source, or a libpq connection string' },
  { name: 'port', valueName: 'PORT', description: 'Port of the source (default: 5432 or 6379)' },
  { name: 'dbname', valueName: 'DBNAME', description: 'Database to connect to (PostgreSQL)' },
  { name: 'username', valueName: 'USER', description: 'User name on the source' },
  { name: 'password-stdin', description: 'Read the password of the source from standard input' },
  { name: 'disable-ssl', description: 'Connect without TLS, both this program and the service' },
  {
    name: 'ignore-dbs',
    valueName: 'a,b',
    multiple: 'list',
    description: 'Databases that are not migrated (PostgreSQL)',
  },
  {
    name: 'allow-cleartext-password',
    description: 'Send the password in clear text to a server whose certificate was not verified (PostgreSQL)',
  },
  { name: 'ca-file', valueName: 'FILE', description: 'CA certificates for the source (PEM file)', completion: 'file' },
];

/** The options of every `db` command that name the source. */
export const sourceOptionSpecs = sourceOptions.map((option) => ({ ...option, section: 'Source options' }));

/** A source database. A migration has one source; the target of a rehearsal has the same type. */
export type DbSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlEndpoint }
  | { readonly engine: 'redis'; readonly source: RedisEndpoint };

/**
 * The source that the command-line options or CLOUDCTL_SOURCE name. The password of the source comes from its URL,
 * standard input, the environment, .pgpass or a prompt.
 */
export async function readSource(io: CommandIo, args: ParsedArgs): Promise<DbSource> {
  const environment = args.value('host') === undefined ? variableValue(io.host.env.CLOUDCTL_SOURCE) : undefined;
  const engine = readEngine(args.value('engine'), args.value('source') ?? args.value('host') ?? environment);
  if (engine === 'postgresql') return { engine, source: await readPostgresDbSource(io, args) };
  if (args.values('ignore-dbs').length > 0) {
    throw usageError(
      'cannot use --ignore-dbs with Redis',
      'remove `--ignore-dbs`: all databases of a Redis source are migrated',
    );
  }
  if (args.has('allow-cleartext-password')) {
    throw usageError(
      'cannot use --allow-cleartext-password with Redis',
      'remove `--allow-cleartext-password`, and use rediss:// to encrypt the password',
    );
  }
  return { engine, source: await readRedisDbSource(io, args, environment) };
}

/** Whether the options or CLOUDCTL_SOURCE name a source, for commands that can do without one. */
export function namesSource({ host }: CommandIo, args: ParsedArgs): boolean {
  const environment = variableValue(host.env.CLOUDCTL_SOURCE);
  return [args.value('source'), args.value('host'), environment].some((one) => one !== undefined);
}

function readEngine(typed: string | undefined, address: string | undefined): DbSource['engine'] {
  if (address === undefined) {
    throw usageError(
      'the source is missing',
      'add `--source postgres://USER@HOST:5432/DBNAME`, set CLOUDCTL_SOURCE, or use --engine and --host',
    );
  }
  const schemeEngine = engineOfScheme(address);
  if (typed !== undefined && schemeEngine !== undefined && typed !== schemeEngine) {
    throw usageError(`--engine ${typed} contradicts the address, which is of ${schemeEngine}`, 'remove `--engine`');
  }
  const engine = schemeEngine ?? typed;
  if (engine === undefined)
    throw usageError('the engine of the source is missing', 'add `--engine postgresql` or `--engine redis`');
  return engine === 'redis' ? 'redis' : 'postgresql';
}

const engineSchemes: readonly (readonly [RegExp, DbSource['engine']])[] = [
  [/^(postgres|pg)/i, 'postgresql'],
  [/redis|valkey|^unix/i, 'redis'],
];

/**
 * The engine that the scheme of a URL names; undefined if the text has no scheme. A misspelt scheme is accepted here,
 * because the URL parser reports the error.
 */
function engineOfScheme(address: string): DbSource['engine'] | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address.trim()) ?? [];
  // Only libpq has connection strings of keywords and values: `host=db.example.com dbname=shop`.
  if (scheme === undefined) return /^\s*[a-z_]+\s*=/.test(address) ? 'postgresql' : undefined;
  const found = engineSchemes.find(([pattern]) => pattern.test(scheme));
  if (found === undefined) {
    throw usageError(
      `the source has the scheme ${scheme}, and only PostgreSQL and Redis can be migrated`,
      'use postgres:// or redis://, or rediss:// for TLS',
    );
  }
  return found[1];
}

async function readPostgresDbSource(io: CommandIo, args: ParsedArgs): Promise<PostgresqlEndpoint> {
  const { env, platform } = io.host;
  const read = parsePostgresqlEndpoint(
    {
      source: args.value('source'),
      environment: variableValue(env.CLOUDCTL_SOURCE),
      host: args.value('host'),
      port: args.value('port'),
      dbname: args.value('dbname'),
      username: args.value('username'),
      disableSsl: args.has('disable-ssl') ? true : undefined,
      caFile: args.value('ca-file'),
      allowCleartextPassword: args.has('allow-cleartext-password'),
    },
    readUserFile,
  );
  for (const note of read.notes) await io.output.warn(note);
  if (read.passwordInUrl) await warnAboutPasswordInUrl(io);
  if (args.has('password-stdin')) return { ...read.source, password: await readPasswordFromStdin(io) };
  if (read.source.password !== undefined) return read.source;
  const found = findPgPassword(read.source, env, platform);
  if (found.warning !== undefined) await io.output.warn(found.warning);
  return { ...read.source, password: found.password ?? (await promptPassword(io, 'PGPASSWORD')) };
}

async function readRedisDbSource(
  io: CommandIo,
  args: ParsedArgs,
  environment: string | undefined,
): Promise<RedisEndpoint> {
  const port = args.value('port');
  if (port !== undefined && !/^\d{1,5}$/.test(port))
    throw usageError('--port is not a number from 1 to 65535', 'write it as in `--port 6379`');
  const url = args.value('source') ?? environment;
  const caFile = args.value('ca-file');
  const read = parseRedisEndpoint({
    url,
    host: args.value('host'),
    port: port === undefined ? undefined : Number(port),
    username: args.value('username'),
    password: args.has('password-stdin') ? await readPasswordFromStdin(io) : undefined,
    disableSsl: args.has('disable-ssl') ? true : undefined,
    ca: caFile === undefined ? undefined : { file: caFile, pem: readCertificates(caFile) },
    environment: io.host.env,
  });
  if (read.source.db !== undefined && read.source.db > 0) {
    await io.output.warn(
      `all databases of a Redis source are migrated: /${read.source.db} in the address has no effect`,
    );
  }
  if (read.passwordFrom === 'url' && args.value('source') !== undefined) await warnAboutPasswordInUrl(io);
  // A missing password for Redis is prompted for in a terminal and is no error elsewhere, because many Redis servers
  // have none.
  if (read.source.password !== undefined || !io.prompts.interactive) return read.source;
  return addPassword(read, await promptPassword(io, 'REDISCLI_AUTH'));
}

function warnAboutPasswordInUrl(io: CommandIo): Promise<void> {
  return io.output.warn(
    'other users of this machine can see the password in --source; use CLOUDCTL_SOURCE, the password variable or --password-stdin instead',
  );
}

/** Prompts for a password; undefined without a terminal, or if the user enters none. */
export async function promptPassword(
  io: CommandIo,
  variable: string,
  server: 'source' | 'target' = 'source',
): Promise<Secret | undefined> {
  if (!io.prompts.interactive) return undefined;
  const password = await io.prompts.askSecret({
    name: `password of the ${server}`,
    ...(server === 'source' ? { option: '--password-stdin' } : {}),
    variable,
    message: `Password of the ${server} (hidden; Enter for none)`,
  });
  return password.length === 0 ? undefined : password;
}

/** The whole standard input except one line end. A space before the line end belongs to the password. */
async function readPasswordFromStdin(io: CommandIo): Promise<Secret> {
  if (io.host.stdin.isTTY === true) {
    throw usageError('standard input is a terminal', 'pipe the password, as in `… --password-stdin < password.txt`');
  }
  const password = (await readAll(io.host.stdin)).replace(/\r?\n$/, '');
  if (password === '')
    throw usageError(
      'the password is missing: standard input is empty',
      'pipe the password, as in `… --password-stdin < password.txt`',
    );
  return new Secret(password);
}

function readCertificates(file: string): string {
  const pem = readUserFile(file);
  if (pem === undefined)
    throw usageError(
      `could not read the CA certificates: ${file} does not exist`,
      'give an existing PEM file with `--ca-file`',
    );
  return pem;
}

export const clusterArgument: ArgumentSpec = {
  name: 'CLUSTER_UUID',
  description: 'UUID of the managed cluster that receives the data; `cloudctl db list` prints it',
  required: true,
  completion: { from: 'cluster' },
  listedBy: 'cloudctl db list',
};

/** The UUID of the cluster on the command line, in lower case. Throws `usage` for an argument that is not a UUID. */
export function readCluster(args: ParsedArgs): string {
  const [typed = ''] = args.positionals;
  if (isCluster(typed)) return typed.toLowerCase();
  throw usageError(
    'CLUSTER_UUID is not a UUID',
    'list the clusters with `cloudctl db list`, or copy the UUID from the control panel',
  );
}

export function isCluster(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
