import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { usageError } from '../errors.ts';
import { Secret } from '../secret.ts';
import { validateConnectionParameters } from './connection-parameters.ts';
import {
  type ConnectionParameters,
  isConnectionString,
  multipleHostsError,
  parseConnectionString,
} from './connection-string.ts';
import { type CertificateVerification, parseSslOptions } from './ssl-mode.ts';

/** Where a PostgreSQL source is and who enters it. Nothing in it was tried yet. */
export interface PostgresqlSource {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly dbname: string;
  readonly username: string;
  /** undefined: none was given. */
  readonly password: Secret | undefined;
  readonly ssl: 'require' | 'disable';
  /** Verifies the server's certificate; without it `require` only encrypts, as the service does. */
  readonly verify?: CertificateVerification | undefined;
  /** The address of `host` to dial, so that it is looked up once. */
  readonly address?: string | undefined;
  /** What a connection string in the host field says against the other options. */
  readonly contradictions?: readonly string[] | undefined;
}

/** The source options as typed; undefined is what was not given. */
export interface PostgresqlSourceOptions {
  /** `--source`. */
  readonly source?: string | undefined;
  /** `CLOUDCTL_SOURCE`: every option is stronger, and `--host` replaces it whole. */
  readonly environment?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly dbname?: string | undefined;
  readonly username?: string | undefined;
  readonly disableSsl?: boolean | undefined;
  readonly caFile?: string | undefined;
}

export interface ParsedPostgresqlSource {
  readonly engine: 'postgresql';
  readonly source: PostgresqlSource;
  /** It stood in an argument, where other users of the machine can see it. */
  readonly passwordInUrl: boolean;
  /** What was understood in a way the person may not expect; to be shown. */
  readonly notes: readonly string[];
}

/**
 * Throws a CliError (usage) for words that name no source.
 * @param readText the text of a file, undefined when there is none
 */
export function parsePostgresqlSource(
  words: PostgresqlSourceOptions,
  readText: (path: string) => string | undefined,
): ParsedPostgresqlSource {
  const given = options(words);
  const string = connectionString(words);
  const parameters: ConnectionParameters =
    string === undefined ? new Map() : parseConnectionString(string.text, string.what);
  const notes = string === undefined ? [] : validateConnectionParameters(parameters, string.what);
  const merged = (name: SourceField) =>
    string?.weak === true ? (given.get(name) ?? parameters.get(name)) : (parameters.get(name) ?? given.get(name));
  const contradictions = string === undefined || string.weak ? [] : contradicting(parameters, given, string.what);
  if (string?.what === '--source' && contradictions.length > 0) {
    throw usageError(contradictions[0]!, 'say it once, in --source or in an option of its own');
  }
  const username = merged('user') ?? missing('the user', '--username USER');
  const password = parameters.get('password');
  const ssl = parseSslOptions(parameters, words, readText);
  return {
    engine: 'postgresql',
    source: {
      host: readHost(merged('host')),
      port: readPort(merged('port') ?? '5432'),
      // A connection string without a database means the one named as the user, as everywhere in PostgreSQL.
      dbname: merged('dbname') ?? (string === undefined ? missing('the database', '--dbname NAME') : username),
      username,
      password: password === undefined ? undefined : new Secret(password),
      ssl: ssl.ssl,
      ...(ssl.verify === undefined ? {} : { verify: ssl.verify }),
      ...(contradictions.length === 0 ? {} : { contradictions }),
    },
    passwordInUrl: password !== undefined && string?.weak === false,
    notes: [...notes, ...ssl.notes],
  };
}

type SourceField = 'host' | 'port' | 'dbname' | 'user';

const optionNames: Readonly<Record<SourceField, string>> = {
  host: '--host',
  port: '--port',
  dbname: '--dbname',
  user: '--username',
};

interface ConnectionStringInput {
  readonly text: string;
  readonly what: '--source' | '--host' | 'CLOUDCTL_SOURCE';
  /** Options win over it without a word. */
  readonly weak: boolean;
}

function connectionString({ source, environment, host }: PostgresqlSourceOptions): ConnectionStringInput | undefined {
  if (source !== undefined) return { text: source, what: '--source', weak: false };
  if (host !== undefined) {
    return isConnectionString(host) ? { text: host.trim(), what: '--host', weak: false } : undefined;
  }
  return environment === undefined || environment === ''
    ? undefined
    : { text: environment, what: 'CLOUDCTL_SOURCE', weak: true };
}

/** What the single options say; a host that is a connection string speaks for itself. */
function options({ host, port, dbname, username }: PostgresqlSourceOptions): ReadonlyMap<SourceField, string> {
  const all: readonly (readonly [SourceField, string | undefined])[] = [
    ['host', host !== undefined && isConnectionString(host) ? undefined : host],
    ['port', port],
    ['dbname', dbname],
    ['user', username],
  ];
  return new Map(all.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const])));
}

function contradicting(
  parameters: ConnectionParameters,
  given: ReadonlyMap<SourceField, string>,
  what: string,
): readonly string[] {
  return [...given].flatMap(([name, value]) => {
    const other = parameters.get(name);
    return other === undefined || other === value
      ? []
      : [`${what} says ${name} ${other}, and ${optionNames[name]} says ${value}`];
  });
}

function readHost(text: string | undefined): string {
  const host = text?.trim().replace(/^\[(.*)\]$/, '$1') ?? '';
  if (host === '')
    throw usageError('the source names no host', 'give the public name or address of the server: --host HOST');
  if (/^[/@]/.test(host)) {
    throw usageError(
      'the host is a Unix-domain socket, which only this machine can reach: the service cannot',
      'give the public name or address of the server',
    );
  }
  if (host.includes(',')) throw multipleHostsError('--host');
  if (isIP(host) !== 0) return host;
  if (/^[^:]*:\d+$/.test(host)) throw usageError('the host has a port in it', 'give the port as --port');
  const ascii = /^[\x21-\x7e]+$/.test(host) ? host : domainToASCII(host);
  // The characters of names as people use them; a resolver would take more and find nothing.
  if (!/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i.test(ascii)) {
    throw usageError('the host is neither a name nor an address', 'give the name alone: no scheme, no path, no spaces');
  }
  return ascii;
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw usageError('the port is not a number from 1 to 65535');
  return port;
}

function missing(what: string, option: string): never {
  throw usageError(
    `${what} of the source is missing`,
    `give it as ${option}, or in --source postgres://USER@HOST:PORT/DBNAME`,
  );
}
