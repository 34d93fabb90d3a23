import { readInputFile } from '../cli/input-file.ts';
import { nonEmptyVariable } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { type DbSource, promptForDbPassword } from '../db-source/read-source.ts';
import { CliError, usageError } from '../errors.ts';
import { findPassword } from '../postgresql/pgpass.ts';
import { type PostgresqlSource, parsePostgresqlSource as readPostgres } from '../postgresql/source.ts';
import { type RedisSource, parseRedisSource as readRedis, withRedisPassword } from '../redis/source.ts';
import { Secret } from '../secret.ts';

/** The server a rehearsal fills. */
export type RehearsalTarget =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlSource; readonly isTlsSaid: boolean }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/** `--into`, or CLOUDCTL_REHEARSE_INTO, with its password: from the address, a variable of its own, .pgpass, the usual variable or the person. */
export async function readRehearsalTarget(
  context: Context,
  typed: string | undefined,
  engine: DbSource['engine'],
): Promise<RehearsalTarget> {
  const url = typed ?? nonEmptyVariable(context.host.env.CLOUDCTL_REHEARSE_INTO);
  if (url === undefined) {
    throw usageError(
      'the target is missing',
      'give it as `--into postgres://USER@HOST:5432/DBNAME`, or in CLOUDCTL_REHEARSE_INTO',
    );
  }
  const isRedis = /^(redis|valkey)s?:\/\//i.test(url);
  if (isRedis !== (engine === 'redis')) {
    const [from, to] = engine === 'redis' ? ['Redis', 'PostgreSQL'] : ['PostgreSQL', 'Redis'];
    throw usageError(`the source is ${from} and the target ${to}`, 'name a target of the same engine with --into');
  }
  return isRedis ? readRedisTarget(context, url, typed) : readPostgresTarget(context, url, typed);
}

async function readPostgresTarget(context: Context, url: string, typed: string | undefined): Promise<RehearsalTarget> {
  const read = asTargetErrors(() => readPostgres({ source: url }, readInputFile));
  for (const note of read.notes) await context.output.warn(toTargetWording(note));
  if (read.passwordInUrl && typed !== undefined) await warnAboutPasswordInTarget(context);
  const isTlsSaid = /[?&\s](sslmode|ssl)=/.test(url);
  const { source } = read;
  const password = source.password ?? (await findTargetPassword(context, source));
  return { engine: 'postgresql', isTlsSaid, source: { ...source, password } };
}

/** An entry of the password file is about this server; PGPASSWORD may be about the source alone, so it comes after. */
async function findTargetPassword(context: Context, door: PostgresqlSource): Promise<Secret | undefined> {
  const { env, platform } = context.host;
  const own = targetPasswordFromVariable(context);
  if (own !== undefined) return own;
  const file = findPassword(door, { ...env, PGPASSWORD: undefined }, platform);
  if (file.warning !== undefined) await context.output.warn(file.warning);
  return (
    file.password ??
    findPassword(door, env, platform).password ??
    (await promptForDbPassword(context, targetPasswordVariable, 'target'))
  );
}

async function readRedisTarget(context: Context, url: string, typed: string | undefined): Promise<RehearsalTarget> {
  const { env } = context.host;
  const own = targetPasswordFromVariable(context);
  const read = asTargetErrors(() => readRedis({ url, environment: env }));
  if (read.passwordFrom === 'url' && typed !== undefined) await warnAboutPasswordInTarget(context);
  const password =
    read.passwordFrom === 'url'
      ? read.source.password
      : (own ?? read.source.password ?? (await promptForDbPassword(context, targetPasswordVariable, 'target')));
  return { engine: 'redis', source: withRedisPassword(read, password) };
}

const targetPasswordVariable = 'CLOUDCTL_REHEARSE_INTO_PASSWORD';

function targetPasswordFromVariable({ host }: Context): Secret | undefined {
  const text = nonEmptyVariable(host.env[targetPasswordVariable]);
  return text === undefined ? undefined : new Secret(text);
}

function warnAboutPasswordInTarget(context: Context): Promise<void> {
  return context.output.warn(
    'a password in --into is visible to other users of this machine; CLOUDCTL_REHEARSE_INTO or CLOUDCTL_REHEARSE_INTO_PASSWORD hide it',
  );
}

/** The readers speak of a source. */
function asTargetErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(
      toTargetWording(error.message),
      error.hint === undefined ? undefined : toTargetWording(error.hint),
    );
  }
}

function toTargetWording(text: string): string {
  return text.replaceAll('--source', '--into').replaceAll('the source', 'the target');
}
