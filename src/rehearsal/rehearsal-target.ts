import type { CommandIo } from '../cli/command-io.ts';
import { readInputFile } from '../cli/input-file.ts';
import { nonEmptyVariable } from '../config/settings.ts';
import { type DbSource, promptForDbPassword } from '../db-source/read-source.ts';
import { CliError, usageError } from '../errors.ts';
import { findPassword } from '../postgresql/pgpass.ts';
import { type PostgresqlSource, type PostgresqlSourceOptions, parsePostgresqlSource } from '../postgresql/source.ts';
import { parseRedisSource, type RedisSource, withRedisPassword } from '../redis/source.ts';
import { Secret } from '../secret.ts';

/**
 * The server into which a rehearsal copies. `isTlsExplicit`: the address says whether to use TLS, so a connection without
 * TLS is not tried.
 */
export type RehearsalTarget =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlSource; readonly isTlsExplicit: boolean }
  | { readonly engine: 'redis'; readonly source: RedisSource };

/**
 * The target in `--into` or CLOUDCTL_REHEARSE_INTO. Its password comes from the address, CLOUDCTL_REHEARSE_INTO_PASSWORD,
 * .pgpass, PGPASSWORD or REDISCLI_AUTH, or a prompt, in this order.
 * @param allowCleartextPassword the option applies to both servers
 */
export async function readRehearsalTarget(
  io: CommandIo,
  typed: string | undefined,
  engine: DbSource['engine'],
  allowCleartextPassword = false,
): Promise<RehearsalTarget> {
  const url = typed ?? nonEmptyVariable(io.host.env.CLOUDCTL_REHEARSE_INTO);
  if (url === undefined) {
    throw usageError(
      'the target is missing',
      'add `--into postgres://USER@HOST:5432/DBNAME`, or set CLOUDCTL_REHEARSE_INTO',
    );
  }
  const isRedis = /^(redis|valkey)s?:\/\//i.test(url);
  if (isRedis !== (engine === 'redis')) {
    const [from, to] = engine === 'redis' ? ['Redis', 'PostgreSQL'] : ['PostgreSQL', 'Redis'];
    throw usageError(
      `the source is ${from}, and the target is ${to}`,
      'give a target of the same engine with `--into`',
    );
  }
  return isRedis
    ? readRedisTarget(io, url, typed)
    : readPostgresTarget(io, { source: url, allowCleartextPassword }, typed);
}

async function readPostgresTarget(
  io: CommandIo,
  options: PostgresqlSourceOptions & { readonly source: string },
  typed: string | undefined,
): Promise<RehearsalTarget> {
  const read = asTargetErrors(() => parsePostgresqlSource(options, readInputFile));
  for (const note of read.notes) await io.output.warn(toTargetWording(note));
  if (read.passwordInUrl && typed !== undefined) await warnAboutPasswordInTarget(io);
  const isTlsExplicit = /[?&\s](sslmode|ssl)=/.test(options.source);
  const { source } = read;
  const password = source.password ?? (await findTargetPassword(io, source));
  return { engine: 'postgresql', isTlsExplicit, source: { ...source, password } };
}

/** An entry of .pgpass names this server. PGPASSWORD may belong to the source, so it is tried after .pgpass. */
async function findTargetPassword(io: CommandIo, target: PostgresqlSource): Promise<Secret | undefined> {
  const { env, platform } = io.host;
  const variable = targetPasswordFromVariable(io);
  if (variable !== undefined) return variable;
  const entry = findPassword(target, { ...env, PGPASSWORD: undefined }, platform);
  if (entry.warning !== undefined) await io.output.warn(entry.warning);
  return (
    entry.password ??
    findPassword(target, env, platform).password ??
    (await promptForDbPassword(io, targetPasswordVariable, 'target'))
  );
}

async function readRedisTarget(io: CommandIo, url: string, typed: string | undefined): Promise<RehearsalTarget> {
  const { env } = io.host;
  const variable = targetPasswordFromVariable(io);
  const read = asTargetErrors(() => parseRedisSource({ url, environment: env }));
  if (read.passwordFrom === 'url' && typed !== undefined) await warnAboutPasswordInTarget(io);
  const password =
    read.passwordFrom === 'url'
      ? read.source.password
      : (variable ?? read.source.password ?? (await promptForDbPassword(io, targetPasswordVariable, 'target')));
  return { engine: 'redis', source: withRedisPassword(read, password) };
}

const targetPasswordVariable = 'CLOUDCTL_REHEARSE_INTO_PASSWORD';

function targetPasswordFromVariable({ host }: CommandIo): Secret | undefined {
  const text = nonEmptyVariable(host.env[targetPasswordVariable]);
  return text === undefined ? undefined : new Secret(text);
}

function warnAboutPasswordInTarget(io: CommandIo): Promise<void> {
  return io.output.warn(
    'other users of this machine can see the password in --into; use CLOUDCTL_REHEARSE_INTO or CLOUDCTL_REHEARSE_INTO_PASSWORD instead',
  );
}

/** The parsers name a source in their errors. */
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
