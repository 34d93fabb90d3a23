import { quoteShellArg } from '../../base/text.ts';
import { variableValue } from '../../config/settings.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { clientErrorCodes } from '../../platform/network-errors.ts';
import { databaseUri } from '../../postgresql/psql-script.ts';
import type { DbSource } from './options.ts';

/**
 * The URL of a source without its password, for `--source` in a suggested command. The URL has the parameters that verify
 * the certificate. It does not say whether TLS is used: the option `--disable-ssl` does.
 */
export function sourceUrlText(server: DbSource): string {
  return buildUrl(server, verificationParameters(server));
}

/**
 * The URL of a target, without its password. No option turns TLS off for a target, so the URL says it
 * (`sslmode=disable`).
 */
export function targetUrlText(server: DbSource): string {
  const isUnencrypted = server.engine === 'postgresql' && server.source.ssl === 'disable';
  return buildUrl(server, isUnencrypted ? { sslmode: 'disable' } : verificationParameters(server));
}

/**
 * The option that names the target in a suggested command: none if CLOUDCTL_TARGET names it.
 * @param url without the password; undefined: not known, so the user replaces the word
 */
export function targetWords(env: ProcessEnvironment, url = 'TARGET_URL'): readonly string[] {
  return variableValue(env.CLOUDCTL_TARGET) === undefined ? ['--target', quoteShellArg(url)] : [];
}

function buildUrl({ engine, source }: DbSource, parameters: Readonly<Record<string, string>>): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const scheme = engine === 'postgresql' ? 'postgres' : source.ssl === 'disable' ? 'redis' : 'rediss';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${scheme}://${user}${host}:${source.port}${database}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function verificationParameters({ engine, source }: DbSource): Readonly<Record<string, string>> {
  if (engine !== 'postgresql' || source.verify === undefined) return {};
  const { what, ca } = source.verify;
  return {
    sslmode: what === 'full' ? 'verify-full' : 'verify-ca',
    ...(ca === undefined ? {} : { sslrootcert: ca.file }),
  };
}

/** Options of a suggested command in addition to those that describe the source. */
interface MoreSourceArgs {
  readonly ignoreDbs?: readonly string[];
  readonly caFile?: string | undefined;
}

/** Options with which another command selects the same source, quoted for a shell, without the password. */
export function sourceWords(source: DbSource, more: MoreSourceArgs = {}): readonly string[] {
  return sourceArgs(source, more).map(quoteShellArg);
}

/** The options of the source without quotes, for storing them as data and not as a shell command. */
export function sourceArgs(source: DbSource, { ignoreDbs = [], caFile }: MoreSourceArgs): readonly string[] {
  const isPostgres = source.engine === 'postgresql';
  // `--ca-file` without `sslmode` also verifies the host name, so the URL needs no parameter for it.
  const isVerifiedByOption = caFile !== undefined && isPostgres && source.source.verify?.what === 'full';
  const named = isVerifiedByOption
    ? { engine: source.engine, source: { ...source.source, verify: undefined } }
    : source;
  return [
    ...['--source', sourceUrlText(named)],
    ...(isPostgres && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
    ...(isPostgres && source.source.allowCleartextPassword === true ? ['--allow-cleartext-password'] : []),
    ...(ignoreDbs.length === 0 ? [] : ['--ignore-dbs', ignoreDbs.join(',')]),
  ];
}

/**
 * The commands with which a user copies the source by hand, without its password: one dump, during which no application
 * may write.
 */
export function manualCopyCommands({ engine, source }: DbSource): string {
  const { host, port } = source;
  if (engine === 'redis') {
    const from = `redis-cli -h ${quoteShellArg(host)} -p ${port}${source.ssl === 'require' ? ' --tls' : ''}`;
    return [
      'Stop all writes, run the command, then load dump.rdb into the target, or copy each key with SCAN, DUMP and RESTORE:',
      `${from} --rdb dump.rdb`,
    ].join('\n');
  }
  const connection = `-h ${quoteShellArg(host)} -p ${port} -U ${quoteShellArg(source.username)} -d ${quoteShellArg(databaseArgument(source.dbname))}`;
  return [
    'Stop all writes first, and connect to the server, not to a pooler:',
    `pg_dump ${connection} --format=custom --no-owner --file=dump.pgc`,
    'pg_restore --no-owner --dbname="$TARGET" dump.pgc',
  ].join('\n');
}

/** pg_dump accepts connection parameters and URIs as a database name. */
function databaseArgument(name: string): string {
  return /^\w[\w-]*$/.test(name) ? name : (databaseUri(name) ?? name);
}

const passwordErrors: ReadonlySet<string> = new Set([clientErrorCodes.noPassword, '28P01', 'WRONGPASS', 'NOAUTH']);

/**
 * What the user does about a source that cannot be connected to. The command has only options that preflight takes.
 * @param code the code of the failed connection, as in ConnectError
 */
export function unreachableHint(source: DbSource, code: string | undefined, more: MoreSourceArgs = {}): string {
  if (code === clientErrorCodes.noTls) {
    return source.engine === 'postgresql'
      ? 'the source does not support SSL: add `--disable-ssl`, or enable SSL on the source'
      : 'the source does not support TLS: write its address with redis:// instead of rediss://';
  }
  const command = ['cloudctl db preflight', ...sourceWords(source, more)].join(' ');
  const variable = source.engine === 'postgresql' ? 'PGPASSWORD or ~/.pgpass' : 'REDISCLI_AUTH';
  return passwordErrors.has(code ?? '')
    ? `correct the password of the source in ${variable}; \`${command}\` shows whether it is right`
    : `find the cause with \`${command}\``;
}
