import { given } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, usage } from '../../errors.ts';
import { findPassword } from '../../postgresql/pgpass.ts';
import { type PostgresSource, readSource as readPostgres } from '../../postgresql/source.ts';
import { type RedisSource, readSource as readRedis, withPassword } from '../../redis/source.ts';
import { Secret } from '../../secret.ts';
import { readInput } from '../input-file.ts';
import { asked, type Source } from './source.ts';

/** The server a rehearsal fills. */
export type Into =
  | { readonly engine: 'postgresql'; readonly source: PostgresSource; readonly isTlsSaid: boolean }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/** `--into`, or CLOUDCTL_REHEARSE_INTO, with its password: from the address, a variable of its own, .pgpass, the usual variable or the person. */
export async function intoOf(context: Context, typed: string | undefined, engine: Source['engine']): Promise<Into> {
  const url = typed ?? given(context.host.env.CLOUDCTL_REHEARSE_INTO);
  if (url === undefined) {
    throw usage(
      'the target is missing',
      'give it as `--into postgres://USER@HOST:5432/DBNAME`, or in CLOUDCTL_REHEARSE_INTO',
    );
  }
  const isRedis = /^(redis|valkey)s?:\/\//i.test(url);
  if (isRedis !== (engine === 'redis')) {
    const [from, to] = engine === 'redis' ? ['Redis', 'PostgreSQL'] : ['PostgreSQL', 'Redis'];
    throw usage(`the source is ${from} and the target ${to}`, 'name a target of the same engine with --into');
  }
  return isRedis ? redisInto(context, url, typed) : postgresInto(context, url, typed);
}

async function postgresInto(context: Context, url: string, typed: string | undefined): Promise<Into> {
  const read = told(() => readPostgres({ source: url }, readInput));
  for (const note of read.notes) await context.output.warn(aboutTarget(note));
  if (read.passwordInUrl && typed !== undefined) await warnOfArgument(context);
  const isTlsSaid = /[?&\s](sslmode|ssl)=/.test(url);
  const { source } = read;
  const password = source.password ?? (await passwordFor(context, source));
  return { engine: 'postgresql', isTlsSaid, source: { ...source, password } };
}

/** An entry of the password file is about this server; PGPASSWORD may be about the source alone, so it comes after. */
async function passwordFor(context: Context, door: PostgresSource): Promise<Secret | undefined> {
  const { env, platform } = context.host;
  const own = ownPassword(context);
  if (own !== undefined) return own;
  const file = findPassword(door, { ...env, PGPASSWORD: undefined }, platform);
  if (file.warning !== undefined) await context.output.warn(file.warning);
  return file.password ?? findPassword(door, env, platform).password ?? (await asked(context, ownVariable, 'target'));
}

async function redisInto(context: Context, url: string, typed: string | undefined): Promise<Into> {
  const { env } = context.host;
  const own = ownPassword(context);
  const read = told(() => readRedis({ url, environment: env }));
  if (read.passwordFrom === 'url' && typed !== undefined) await warnOfArgument(context);
  const password =
    read.passwordFrom === 'url'
      ? read.source.password
      : (own ?? read.source.password ?? (await asked(context, ownVariable, 'target')));
  return { engine: 'redis', source: withPassword(read, password) };
}

const ownVariable = 'CLOUDCTL_REHEARSE_INTO_PASSWORD';

function ownPassword({ host }: Context): Secret | undefined {
  const text = given(host.env[ownVariable]);
  return text === undefined ? undefined : new Secret(text);
}

function warnOfArgument(context: Context): Promise<void> {
  return context.output.warn(
    'a password in --into is visible to other users of this machine; CLOUDCTL_REHEARSE_INTO or CLOUDCTL_REHEARSE_INTO_PASSWORD hide it',
  );
}

/** The readers speak of a source. */
function told<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usage(aboutTarget(error.message), error.hint === undefined ? undefined : aboutTarget(error.hint));
  }
}

function aboutTarget(text: string): string {
  return text.replaceAll('--source', '--into').replaceAll('the source', 'the target');
}
