import { text as readAll } from 'node:stream/consumers';
import type { OptionSpec, Words } from '../../cli/command.ts';
import { given } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import { findPassword } from '../../postgresql/pgpass.ts';
import { type PostgresSource, readSource as readPostgresSource } from '../../postgresql/source.ts';
import { type RedisSource, readSource as readRedisSource, withPassword } from '../../redis/source.ts';
import { Secret } from '../../secret.ts';
import { readInput } from '../input-file.ts';

/** The options of every `db` command that say where the source is (contract.md §6). */
export const sourceOptions: readonly OptionSpec[] = [
  { name: 'source', value: 'URL', description: 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT' },
  { name: 'engine', value: 'ENGINE', description: 'when there is no URL', choices: ['postgresql', 'redis'] },
  { name: 'host', value: 'H', description: 'public name or address of the source, or a connection string' },
  { name: 'port', value: 'P', description: 'its port (5432 or 6379)' },
  { name: 'dbname', value: 'D', description: 'its database (PostgreSQL)' },
  { name: 'username', value: 'U', description: 'its user' },
  { name: 'password-stdin', description: 'read the password from standard input' },
  { name: 'disable-ssl', description: 'connect without TLS, here and from the service' },
  { name: 'ignore-dbs', value: 'a,b', many: 'list', description: 'databases to leave out (PostgreSQL)' },
  { name: 'ca-file', value: 'F', description: 'certificates that sign that of the source', completes: 'file' },
];

export type Source =
  | { readonly engine: 'postgresql'; readonly source: PostgresSource }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/** The source as typed, with its password: from the address, standard input, the environment, .pgpass or the person. */
export async function sourceOf(context: Context, words: Words): Promise<Source> {
  const environment = words.text('host') === undefined ? given(context.host.env.CLOUDCTL_SOURCE) : undefined;
  const engine = engineOf(words.text('engine'), words.text('source') ?? words.text('host') ?? environment);
  if (engine === 'postgresql') return { engine, source: await postgresSource(context, words) };
  if (words.list('ignore-dbs').length > 0) {
    throw usage('cannot use --ignore-dbs with Redis', 'leave it out: a Redis source is migrated whole');
  }
  return { engine, source: await redisSource(context, words, environment) };
}

function engineOf(typed: string | undefined, address: string | undefined): Source['engine'] {
  if (address === undefined) {
    throw usage(
      'the source is missing',
      'give it as `--source postgres://USER@HOST:5432/DBNAME`, in CLOUDCTL_SOURCE, or with --engine and --host',
    );
  }
  const said = schemeOf(address);
  if (typed !== undefined && said !== undefined && typed !== said) {
    throw usage(`the address is of ${said}, and --engine says ${typed}`, 'leave --engine out');
  }
  const engine = said ?? typed;
  if (engine === undefined)
    throw usage('the engine of the source is not told', 'add `--engine postgresql` or `--engine redis`');
  return engine === 'redis' ? 'redis' : 'postgresql';
}

const schemes: readonly (readonly [RegExp, Source['engine']])[] = [
  [/^(postgres|pg)/i, 'postgresql'],
  [/redis|valkey|^unix/i, 'redis'],
];

/** By the scheme, right or nearly right: whoever reads the address says what is wrong with it. undefined: it has none. */
function schemeOf(address: string): Source['engine'] | undefined {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address.trim()) ?? [];
  if (scheme === undefined) return undefined;
  const found = schemes.find(([pattern]) => pattern.test(scheme));
  if (found === undefined) {
    throw usage(
      `the source is an address of the kind ${scheme}, and only PostgreSQL and Redis are migrated`,
      'begin it with postgres:// or redis://, or rediss:// for TLS',
    );
  }
  return found[1];
}

async function postgresSource(context: Context, words: Words): Promise<PostgresSource> {
  const { env, platform } = context.host;
  const read = readPostgresSource(
    {
      source: words.text('source'),
      environment: given(env.CLOUDCTL_SOURCE),
      host: words.text('host'),
      port: words.text('port'),
      dbname: words.text('dbname'),
      username: words.text('username'),
      disableSsl: words.flag('disable-ssl') ? true : undefined,
      caFile: words.text('ca-file'),
    },
    readInput,
  );
  for (const note of read.notes) await context.output.warn(note);
  if (read.passwordInUrl) await warnOfArgument(context);
  if (words.flag('password-stdin')) return { ...read.source, password: await fromStdin(context) };
  if (read.source.password !== undefined) return read.source;
  const found = findPassword(read.source, env, platform);
  if (found.warning !== undefined) await context.output.warn(found.warning);
  return { ...read.source, password: found.password ?? (await asked(context, 'PGPASSWORD')) };
}

async function redisSource(context: Context, words: Words, environment: string | undefined): Promise<RedisSource> {
  const port = words.text('port');
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw usage('--port is not a number from 1 to 65535');
  const url = words.text('source') ?? environment;
  const caFile = words.text('ca-file');
  const read = readRedisSource({
    url,
    host: words.text('host'),
    port: port === undefined ? undefined : Number(port),
    username: words.text('username'),
    password: words.flag('password-stdin') ? await fromStdin(context) : undefined,
    disableSsl: words.flag('disable-ssl') ? true : undefined,
    ca: caFile === undefined ? undefined : { file: caFile, pem: certificates(caFile) },
    environment: context.host.env,
  });
  if (read.source.db !== undefined && read.source.db > 0) {
    await context.output.warn(`a Redis source is migrated with all its databases: /${read.source.db} chooses none`);
  }
  if (read.passwordFrom === 'url' && words.text('source') !== undefined) await warnOfArgument(context);
  // A Redis without a password is common; only a person at a terminal is asked.
  if (read.source.password !== undefined || !context.prompts.interactive) return read.source;
  return withPassword(read, await asked(context, 'REDISCLI_AUTH'));
}

function warnOfArgument(context: Context): Promise<void> {
  return context.output.warn(
    'a password in --source is visible to other users of this machine; CLOUDCTL_SOURCE, the password variable or --password-stdin hide it',
  );
}

/** Enter alone is no password, for servers that trust this address. */
export async function asked(
  context: Context,
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
async function fromStdin(context: Context): Promise<Secret> {
  if (context.host.stdin.isTTY === true) {
    throw usage('standard input is a terminal', 'pipe the password in, as in `… --password-stdin < password.txt`');
  }
  const password = (await readAll(context.host.stdin)).replace(/\r?\n$/, '');
  if (password === '') throw usage('standard input is empty, and --password-stdin reads the password from it');
  return new Secret(password);
}

function certificates(file: string): string {
  const pem = readInput(file);
  if (pem === undefined) throw usage(`the CA file ${file} is not there`);
  return pem;
}
