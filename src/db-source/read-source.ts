import { text as readAll } from 'node:stream/consumers';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { readInputFile } from '../cli/input-file.ts';
import { nonEmptyVariable } from '../config/settings.ts';
import { usageError } from '../errors.ts';
import { findPassword } from '../postgresql/pgpass.ts';
import { type PostgresqlSource, parsePostgresqlSource as readPostgresSource } from '../postgresql/source.ts';
import { type RedisSource, parseRedisSource as readRedisSource, withRedisPassword } from '../redis/source.ts';
import { Secret } from '../secret.ts';

/** The options of every `db` command that say where the source is (contract.md §6). */
export const sourceOptionSpecs: readonly OptionSpec[] = [
  { name: 'source', valueName: 'URL', description: 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT' },
  { name: 'engine', valueName: 'ENGINE', description: 'when there is no URL', choices: ['postgresql', 'redis'] },
  { name: 'host', valueName: 'H', description: 'public name or address of the source, or a connection string' },
  { name: 'port', valueName: 'P', description: 'its port (5432 or 6379)' },
  { name: 'dbname', valueName: 'D', description: 'its database (PostgreSQL)' },
  { name: 'username', valueName: 'U', description: 'its user' },
  { name: 'password-stdin', description: 'read the password from standard input' },
  { name: 'disable-ssl', description: 'connect without TLS, here and from the service' },
  { name: 'ignore-dbs', valueName: 'a,b', multiple: 'list', description: 'databases to leave out (PostgreSQL)' },
  { name: 'ca-file', valueName: 'F', description: 'certificates that sign that of the source', completion: 'file' },
];

export type DbSource =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlSource }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/** The source as typed, with its password: from the address, standard input, the environment, .pgpass or the person. */
export async function readDbSource(context: CommandIo, words: ParsedArgs): Promise<DbSource> {
  const environment =
    words.value('host') === undefined ? nonEmptyVariable(context.host.env.CLOUDCTL_SOURCE) : undefined;
  const engine = readEngine(words.value('engine'), words.value('source') ?? words.value('host') ?? environment);
  if (engine === 'postgresql') return { engine, source: await readPostgresDbSource(context, words) };
  if (words.values('ignore-dbs').length > 0) {
    throw usageError('cannot use --ignore-dbs with Redis', 'leave it out: a Redis source is migrated whole');
  }
  return { engine, source: await readRedisDbSource(context, words, environment) };
}

function readEngine(typed: string | undefined, address: string | undefined): DbSource['engine'] {
  if (address === undefined) {
    throw usageError(
      'the source is missing',
      'give it as `--source postgres://USER@HOST:5432/DBNAME`, in CLOUDCTL_SOURCE, or with --engine and --host',
    );
  }
  const said = engineOfScheme(address);
  if (typed !== undefined && said !== undefined && typed !== said) {
    throw usageError(`the address is of ${said}, and --engine says ${typed}`, 'leave --engine out');
  }
  const engine = said ?? typed;
  if (engine === undefined)
    throw usageError('the engine of the source is not told', 'add `--engine postgresql` or `--engine redis`');
  return engine === 'redis' ? 'redis' : 'postgresql';
}

const engineSchemes: readonly (readonly [RegExp, DbSource['engine']])[] = [
  [/^(postgres|pg)/i, 'postgresql'],
  [/redis|valkey|^unix/i, 'redis'],
];

/** By the scheme, right or nearly right: whoever reads the address says what is wrong with it. undefined: it has none. */
function engineOfScheme(address: string): DbSource['engine'] | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address.trim()) ?? [];
  if (scheme === undefined) return undefined;
  const found = engineSchemes.find(([pattern]) => pattern.test(scheme));
  if (found === undefined) {
    throw usageError(
      `the source is an address of the kind ${scheme}, and only PostgreSQL and Redis are migrated`,
      'begin it with postgres:// or redis://, or rediss:// for TLS',
    );
  }
  return found[1];
}

async function readPostgresDbSource(context: CommandIo, words: ParsedArgs): Promise<PostgresqlSource> {
  const { env, platform } = context.host;
  const read = readPostgresSource(
    {
      source: words.value('source'),
      environment: nonEmptyVariable(env.CLOUDCTL_SOURCE),
      host: words.value('host'),
      port: words.value('port'),
      dbname: words.value('dbname'),
      username: words.value('username'),
      disableSsl: words.has('disable-ssl') ? true : undefined,
      caFile: words.value('ca-file'),
    },
    readInputFile,
  );
  for (const note of read.notes) await context.output.warn(note);
  if (read.passwordInUrl) await warnAboutPasswordInUrl(context);
  if (words.has('password-stdin')) return { ...read.source, password: await readPasswordFromStdin(context) };
  if (read.source.password !== undefined) return read.source;
  const found = findPassword(read.source, env, platform);
  if (found.warning !== undefined) await context.output.warn(found.warning);
  return { ...read.source, password: found.password ?? (await promptForDbPassword(context, 'PGPASSWORD')) };
}

async function readRedisDbSource(
  context: CommandIo,
  words: ParsedArgs,
  environment: string | undefined,
): Promise<RedisSource> {
  const port = words.value('port');
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw usageError('--port is not a number from 1 to 65535');
  const url = words.value('source') ?? environment;
  const caFile = words.value('ca-file');
  const read = readRedisSource({
    url,
    host: words.value('host'),
    port: port === undefined ? undefined : Number(port),
    username: words.value('username'),
    password: words.has('password-stdin') ? await readPasswordFromStdin(context) : undefined,
    disableSsl: words.has('disable-ssl') ? true : undefined,
    ca: caFile === undefined ? undefined : { file: caFile, pem: readCertificates(caFile) },
    environment: context.host.env,
  });
  if (read.source.db !== undefined && read.source.db > 0) {
    await context.output.warn(`a Redis source is migrated with all its databases: /${read.source.db} chooses none`);
  }
  if (read.passwordFrom === 'url' && words.value('source') !== undefined) await warnAboutPasswordInUrl(context);
  // A Redis without a password is common; only a person at a terminal is asked.
  if (read.source.password !== undefined || !context.prompts.interactive) return read.source;
  return withRedisPassword(read, await promptForDbPassword(context, 'REDISCLI_AUTH'));
}

function warnAboutPasswordInUrl(context: CommandIo): Promise<void> {
  return context.output.warn(
    'a password in --source is visible to other users of this machine; CLOUDCTL_SOURCE, the password variable or --password-stdin hide it',
  );
}

/** Enter alone is no password, for servers that trust this address. */
export async function promptForDbPassword(
  context: CommandIo,
  variable: string,
  whose: 'source' | 'target' = 'source',
): Promise<Secret | undefined> {
  if (!context.prompts.interactive) return undefined;
  const password = await context.prompts.askSecret({
    name: `password of the ${whose}`,
    ...(whose === 'source' ? { option: '--password-stdin' } : {}),
    variable,
    message: `Password of the ${whose} (hidden; Enter for none)`,
  });
  return password.reveal() === '' ? undefined : password;
}

/** One line; what ends the line is no part of the password, a blank before it is. */
async function readPasswordFromStdin(context: CommandIo): Promise<Secret> {
  if (context.host.stdin.isTTY === true) {
    throw usageError('standard input is a terminal', 'pipe the password in, as in `… --password-stdin < password.txt`');
  }
  const password = (await readAll(context.host.stdin)).replace(/\r?\n$/, '');
  if (password === '') throw usageError('standard input is empty, and --password-stdin reads the password from it');
  return new Secret(password);
}

function readCertificates(file: string): string {
  const pem = readInputFile(file);
  if (pem === undefined) throw usageError(`the CA file ${file} is not there`);
  return pem;
}
