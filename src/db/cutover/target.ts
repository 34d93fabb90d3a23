import { CliError, usageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { countOf, quoteShellArg } from '../../base/text.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { readUserFile } from '../../cli/user-file.ts';
import { variableValue } from '../../config/settings.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { ConnectError, clientErrorCodes, DatabaseError } from '../../platform/network-errors.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import { type EndpointOptions, type PostgresqlEndpoint, parsePostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { findPgPassword } from '../../postgresql/pgpass.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { decodeText } from '../../postgresql/rows.ts';
import { CommandError } from '../../redis/command-error.ts';
import { connectRedis } from '../../redis/connection.ts';
import { addPassword, parseRedisEndpoint, type RedisEndpoint } from '../../redis/endpoint.ts';
import { parseKeyspace } from '../../redis/info.ts';
import { parseServerVersion } from '../../redis/version.ts';
import { firstTablesSql, readServerInfo, redactReason } from '../engine/tools.ts';
import { type PreflightOptions, requireTargetVersion } from '../preflight/index.ts';
import {
  databaseLimitQuery,
  modulesQuery,
  type NamedTarget,
  optionsOfTarget,
  readPostgresqlTarget,
} from '../preflight/queries.ts';
import { type DbSource, promptPassword, targetUrlText } from '../source/index.ts';
import { queryCatalogRows } from './postgresql/tables.ts';

/**
 * The server into which a rehearsal copies. `isTlsExplicit`: the address determines whether TLS is used, so a
 * connection without TLS is not tried.
 */
export type TargetServer =
  | { readonly engine: 'postgresql'; readonly source: PostgresqlEndpoint; readonly isTlsExplicit: boolean }
  | { readonly engine: 'redis'; readonly source: RedisEndpoint };

/** The options and variables with which a command names its target. */
interface TargetNames {
  /** The option that names the target, such as `--into`. */
  readonly option: string;
  /**
   * The environment variable with the address of the target. The variable with the password has the same name with the
   * suffix `_PASSWORD`.
   */
  readonly variable: string;
}

/** The target of `db rehearse`, in `--into` or CLOUDCTL_REHEARSE_INTO. @param engine of the source */
export function readRehearsalTarget(
  io: CommandIo,
  args: ParsedArgs,
  engine: DbSource['engine'],
): Promise<TargetServer> {
  return readTarget(io, args, engine, { option: '--into', variable: 'CLOUDCTL_REHEARSE_INTO' });
}

/** The target of a migration, in `--target` or CLOUDCTL_TARGET. @param engine of the source */
export function readTargetServer(io: CommandIo, args: ParsedArgs, engine: DbSource['engine']): Promise<TargetServer> {
  return readTarget(io, args, engine, { option: '--target', variable: 'CLOUDCTL_TARGET' });
}

/**
 * The target that the option or the environment variable names. The password of the target comes from the address, the
 * variable for the password, .pgpass, PGPASSWORD or REDISCLI_AUTH, or a prompt, in this order.
 */
async function readTarget(
  io: CommandIo,
  args: ParsedArgs,
  engine: DbSource['engine'],
  names: TargetNames,
): Promise<TargetServer> {
  const typed = args.value(names.option.slice(2));
  const allowCleartextPassword = args.has('allow-cleartext-password');
  const url = typed ?? variableValue(io.host.env[names.variable]);
  if (url === undefined) {
    throw usageError(
      'the target is missing',
      `add \`${names.option} postgres://USER@HOST:5432/DBNAME\`, or set ${names.variable}`,
    );
  }
  const isRedis = /^(redis|valkey)s?:\/\//i.test(url);
  if (isRedis !== (engine === 'redis')) {
    const [from, to] = engine === 'redis' ? ['Redis', 'PostgreSQL'] : ['PostgreSQL', 'Redis'];
    throw usageError(
      `the source is ${from}, and the target is ${to}`,
      `give a target of the same engine with \`${names.option}\``,
    );
  }
  return isRedis
    ? readRedisTarget(io, url, typed, names)
    : readPostgresTarget(io, { source: url, allowCleartextPassword }, typed, names);
}

async function readPostgresTarget(
  io: CommandIo,
  options: EndpointOptions & { readonly source: string },
  typed: string | undefined,
  names: TargetNames,
): Promise<TargetServer> {
  const read = asTargetErrors(() => parsePostgresqlEndpoint(options, readUserFile), names);
  for (const note of read.notes) await io.output.warn(toTargetWording(note, names));
  if (read.passwordInUrl && typed !== undefined) await warnAboutPasswordInTarget(io, names);
  const isTlsExplicit = /[?&\s](sslmode|ssl)=/.test(options.source);
  const { source } = read;
  const password = source.password ?? (await findTargetPassword(io, source, names));
  return { engine: 'postgresql', isTlsExplicit, source: { ...source, password } };
}

/**
 * Whether an entry of .pgpass names this server. PGPASSWORD may be the password of the source, so it is used only if
 * .pgpass has no entry for the target.
 */
async function findTargetPassword(
  io: CommandIo,
  target: PostgresqlEndpoint,
  names: TargetNames,
): Promise<Secret | undefined> {
  const { env, platform } = io.host;
  const variable = targetPasswordFromVariable(io, names);
  if (variable !== undefined) return variable;
  const entry = findPgPassword(target, { ...env, PGPASSWORD: undefined }, platform);
  if (entry.warning !== undefined) await io.output.warn(entry.warning);
  return (
    entry.password ??
    findPgPassword(target, env, platform).password ??
    (await promptPassword(io, passwordVariable(names), 'target'))
  );
}

async function readRedisTarget(
  io: CommandIo,
  url: string,
  typed: string | undefined,
  names: TargetNames,
): Promise<TargetServer> {
  const { env } = io.host;
  const variable = targetPasswordFromVariable(io, names);
  const read = asTargetErrors(() => parseRedisEndpoint({ url, environment: env }), names);
  if (read.passwordFrom === 'url' && typed !== undefined) await warnAboutPasswordInTarget(io, names);
  const password =
    read.passwordFrom === 'url'
      ? read.source.password
      : (variable ?? read.source.password ?? (await promptPassword(io, passwordVariable(names), 'target')));
  return { engine: 'redis', source: addPassword(read, password) };
}

function passwordVariable({ variable }: TargetNames): string {
  return `${variable}_PASSWORD`;
}

function targetPasswordFromVariable({ host }: CommandIo, names: TargetNames): Secret | undefined {
  const text = variableValue(host.env[passwordVariable(names)]);
  return text === undefined ? undefined : new Secret(text);
}

function warnAboutPasswordInTarget(io: CommandIo, names: TargetNames): Promise<void> {
  return io.output.warn(
    `other users of this machine can see the password in ${names.option}; use ${names.variable} or ${passwordVariable(names)} instead`,
  );
}

/** Errors of the parsers name a source, so here they are changed to name the target. */
function asTargetErrors<T>(read: () => T, names: TargetNames): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw usageError(
      toTargetWording(error.message, names),
      error.hint === undefined ? undefined : toTargetWording(error.hint, names),
    );
  }
}

function toTargetWording(text: string, { option }: TargetNames): string {
  return text.replaceAll('--source', option).replaceAll('the source', 'the target');
}

/** The option that names the target of a migration. */
export const targetOption: OptionSpec = {
  name: 'target',
  valueName: 'URL',
  description: 'Target server: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
};

/** The option of `db preflight` and `db migrate` that names a target to read. */
export const readTargetOption: OptionSpec = {
  name: 'target',
  valueName: 'URL',
  description:
    'Read what this target provides, and what its login may create (default: CLOUDCTL_TARGET); nothing is written to it',
};

interface InspectTargetOptions {
  readonly args: ParsedArgs;
  readonly engine: DbSource['engine'];
  readonly signal: AbortSignal;
  /** Receives every statement before it is sent to a PostgreSQL target. */
  readonly onSend: (text: string) => void;
}

/**
 * Reads the target of `--target` or CLOUDCTL_TARGET, if one is named. Throws a CliError if the target cannot be read, or
 * contradicts the options.
 * @returns the options of the preflight that follow from the target
 */
export async function inspectTarget(
  io: CommandIo,
  { args, engine, signal, onSend }: InspectTargetOptions,
): Promise<Partial<PreflightOptions>> {
  const typed = args.value('target');
  if ((typed ?? variableValue(io.host.env.CLOUDCTL_TARGET)) === undefined) return {};
  if (args.values('target-extensions').length > 0)
    throw usageError(
      'cannot use --target-extensions with a target that is read',
      typed === undefined
        ? 'unset CLOUDCTL_TARGET, or leave out `--target-extensions`'
        : 'leave out `--target-extensions`',
    );
  const server = await readTargetServer(io, args, engine);
  const options =
    server.engine === 'redis'
      ? await readRedisOptions(server.source, signal)
      : await readPostgresqlOptions(server, targetInputs, signal, onSend, true);
  requireTargetVersion(engine, args.value('target-version'), options.targetVersion, 'the target');
  return options;
}

/**
 * Reads a PostgreSQL target. Without `sslmode` in its address, TLS is used if the server has it.
 * @param isEmptyNeeded whether to read which databases have tables, too
 */
export async function readPostgresqlOptions(
  { source, isTlsExplicit }: Pick<Extract<TargetServer, { engine: 'postgresql' }>, 'source' | 'isTlsExplicit'>,
  inputs: TargetInputNames,
  signal: AbortSignal,
  onSend?: (text: string) => void,
  isEmptyNeeded = false,
): Promise<Pick<PreflightOptions, 'target' | 'targetVersion'>> {
  try {
    const read = optionsOfTarget(source, await readPostgresqlTarget(source, signal, onSend));
    if (!isEmptyNeeded) return read;
    const names = [...(read.target.postgresql?.databases ?? [])].filter((name) => !/^template[01]$/.test(name));
    return { ...read, target: { ...read.target, contents: await readTables(source, names, signal, onSend) } };
  } catch (error) {
    const isWithoutTls = error instanceof ConnectError && error.code === clientErrorCodes.noTls && !isTlsExplicit;
    if (isWithoutTls)
      return readPostgresqlOptions(
        { source: { ...source, ssl: 'disable' }, isTlsExplicit: true },
        inputs,
        signal,
        onSend,
        isEmptyNeeded,
      );
    throw unreadableTarget(error, source, inputs);
  }
}

/** The databases of the target that have tables. One that the login cannot enter is left to the service. */
async function readTables(
  source: PostgresqlEndpoint,
  names: readonly string[],
  signal: AbortSignal,
  onSend: (text: string) => void = () => {},
): Promise<NonNullable<NamedTarget['contents']>> {
  const found: { readonly database: string; readonly reason: string }[] = [];
  for (const database of names) {
    try {
      const options = { dbname: database, limit: 10_000, signal, applicationName: 'cloudctl-preflight' };
      const session = await connectPostgresql(source, options);
      try {
        onSend(firstTablesSql);
        const tables = (await queryCatalogRows(session, firstTablesSql)).map((row) => decodeText(row, 'name'));
        if (tables.length > 0)
          found.push({ database, reason: `the target database is not empty: it contains ${tables.join(', ')}` });
      } finally {
        await session.end();
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof ConnectError || error instanceof QueryError)) throw error;
    }
  }
  return found;
}

async function readRedisOptions(source: RedisEndpoint, signal: AbortSignal): Promise<Partial<PreflightOptions>> {
  try {
    const session = await connectRedis(source, { limit: 10_000, signal });
    try {
      const info = await readServerInfo(session);
      const version = parseServerVersion(info);
      const modules = await session.send(['MODULE', 'LIST']).catch(() => undefined);
      const settings = await session.send(databaseLimitQuery.command({ user: 'default' })).catch(() => undefined);
      const databases = Array.isArray(settings) ? Number(databaseLimitQuery.decode(settings).get('databases')) : 0;
      const limit = Number(info.get('maxmemory'));
      const keys = parseKeyspace(info).reduce((sum, one) => sum + one.keys, 0);
      return {
        target: {
          ...{ host: source.host, port: source.port },
          contents:
            keys === 0
              ? []
              : [{ database: undefined, reason: `the target is not empty: it contains ${countOf(keys, 'key')}` }],
        },
        ...(version === undefined ? {} : { targetVersion: `${version.product}-${version.version}` }),
        ...(modules === undefined
          ? {}
          : { targetExtensions: modulesQuery.decode(modules).map((name) => name.toLowerCase()) }),
        ...(limit > 0 ? { targetMemory: limit } : {}),
        ...(databases > 0 ? { targetDatabases: databases } : {}),
      };
    } finally {
      session.end();
    }
  } catch (error) {
    throw unreadableTarget(error, source, targetInputs);
  }
}

function unreadableTarget(
  error: unknown,
  { host, port, password }: PostgresqlEndpoint | RedisEndpoint,
  inputs: TargetInputNames,
): unknown {
  const known = [ConnectError, DatabaseError, QueryError, CommandError];
  if (!known.some((kind) => error instanceof kind)) return error;
  return new CliError('unreachable', `could not read the target: ${redactReason(error, password)}`, {
    detail: `${host}:${port}`,
    hint: targetLoginHint(error, inputs),
    cause: error,
  });
}

/** How a command names its target: the option, and the environment variable of the password. */
interface TargetInputNames {
  readonly option: string;
  readonly passwordVariable: string;
}

export const targetInputs: TargetInputNames = {
  option: '--target',
  passwordVariable: 'CLOUDCTL_TARGET_PASSWORD',
};

export const rehearsalInputs: TargetInputNames = {
  option: '--into',
  passwordVariable: 'CLOUDCTL_REHEARSE_INTO_PASSWORD',
};

/** What the user does about a target that cannot be connected to. It depends on the reason of the failed connection. */
export function targetLoginHint(error: unknown, { option, passwordVariable }: TargetInputNames): string {
  const code = error instanceof ConnectError || error instanceof DatabaseError ? error.code : '';
  if (code === clientErrorCodes.noTls)
    return `add \`?sslmode=disable\` to the address in \`${option}\`: the target has no TLS`;
  if (code === clientErrorCodes.cleartextPassword || code === clientErrorCodes.weakScram)
    return `add \`sslmode=verify-full&sslrootcert=FILE\` to the address in \`${option}\`, or add \`--allow-cleartext-password\``;
  if (passwordErrors.has(code))
    return `set ${passwordVariable} to the password of the target, and check the user in \`${option}\``;
  return `check the address in \`${option}\` and the access rules of the target`;
}

/** SQLSTATE 28P01 is a wrong password; the errors of Redis are the first words of its responses. */
const passwordErrors: ReadonlySet<string> = new Set([clientErrorCodes.noPassword, '28P01', 'WRONGPASS', 'NOAUTH']);

/**
 * The psql command that runs a script on the target of a migration, for a shell in which PGPASSWORD is the password of the
 * source. It contains no password: psql takes it from CLOUDCTL_TARGET_PASSWORD, else from .pgpass or a prompt.
 */
export function targetPsqlCommand(target: DbSource, env: ProcessEnvironment): string {
  const psql = `psql -X -v ON_ERROR_STOP=1 ${quoteShellArg(targetUrlText(target))}`;
  const { CLOUDCTL_TARGET_PASSWORD: own = '', PGPASSWORD: shared = '' } = env;
  if (own !== '') return `PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" ${psql}`;
  // libpq reads .pgpass, and psql prompts, only when PGPASSWORD is empty.
  return shared === '' ? psql : `PGPASSWORD= ${psql}`;
}
