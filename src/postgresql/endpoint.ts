import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { usageError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import {
  type ConnectionParameters,
  isConnectionString,
  multipleHostsError,
  parseConnectionString,
  validateParameters,
} from './connection-string.ts';

/** How the certificate of the server is verified. */
interface CertificateVerification {
  /** `chain`: a trusted CA issued the certificate; `full`: in addition, the certificate contains the host name. */
  readonly what: 'chain' | 'full';
  /** The trusted certificates (PEM) and their file; absent: those of Node.js. */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
}

/**
 * Whether a successful TLS handshake proves the identity of the server. Without a check of the host name, a certificate
 * of a public CA proves nothing, because anyone can get such a certificate for their own name.
 */
export function verifiesIdentity(verify: CertificateVerification | undefined): boolean {
  return verify !== undefined && (verify.what === 'full' || verify.ca !== undefined);
}

interface SslOptions {
  readonly ssl: 'require' | 'disable';
  readonly verify: CertificateVerification | undefined;
  readonly notes: readonly string[];
}

/**
 * Combines sslmode, sslrootcert, `--disable-ssl` and `--ca-file`. Throws a CliError (usage) if these options contradict
 * each other.
 */
function parseSslOptions(
  parameters: ConnectionParameters,
  options: { readonly disableSsl?: boolean | undefined; readonly caFile?: string | undefined },
  readText: (path: string) => string | undefined,
): SslOptions {
  const mode = sslModeOf(parameters);
  const caFile = options.caFile ?? parameters.get('sslrootcert');
  const isDisabled = mode === 'disable' || options.disableSsl === true;
  if (options.disableSsl === true && (mode === 'require' || isVerifying(mode))) {
    throw usageError(`sslmode=${mode} and --disable-ssl contradict each other`, 'remove one of them');
  }
  if (isDisabled && options.caFile !== undefined) {
    throw usageError('--ca-file and a connection without TLS contradict each other', 'remove --ca-file, or use TLS');
  }
  if (isDisabled) return { ssl: 'disable', verify: undefined, notes: [] };
  const isOptional = mode === 'prefer' || mode === 'allow';
  return {
    ssl: 'require',
    verify: verifyOf(mode, caFile, options.caFile !== undefined, readText),
    notes: isOptional ? [`sslmode=${mode} is used as require: a migration never falls back from TLS`] : [],
  };
}

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

function sslModeOf(parameters: ConnectionParameters): Mode | undefined {
  const text = parameters.get('sslmode');
  const explicit = text === undefined ? undefined : (modes.find((mode) => mode === text) ?? unknownSslMode());
  const flag = parseSslFlag(parameters.get('ssl'));
  if (explicit !== undefined && flag !== undefined && (explicit === 'disable') !== (flag === 'disable')) {
    throw usageError(`sslmode=${explicit} and ssl contradict each other`, 'remove ssl');
  }
  return explicit ?? flag;
}

/** Spellings of drivers for TLS modes, such as `ssl=true`; unknown spellings are errors. */
function parseSslFlag(text: string | undefined): Mode | undefined {
  if (text === undefined) return undefined;
  if (/^(true|1|on)$/.test(text)) return 'require';
  if (/^(false|0|off)$/.test(text)) return 'disable';
  throw usageError('the value of ssl is unknown', 'use ssl=true, ssl=false or sslmode');
}

function unknownSslMode(): never {
  throw usageError('the sslmode is unknown', `use one of ${modes.join(', ')}`);
}

function isVerifying(mode: Mode | undefined): boolean {
  return mode === 'verify-ca' || mode === 'verify-full';
}

function verifyOf(
  mode: Mode | undefined,
  caFile: string | undefined,
  isOption: boolean,
  readText: (path: string) => string | undefined,
): CertificateVerification | undefined {
  if (caFile === undefined || caFile === 'system') {
    if (caFile === undefined && !isVerifying(mode)) return undefined;
    return { what: mode === 'verify-ca' ? 'chain' : 'full' };
  }
  // In libpq `require` with a root certificate means verify-ca; `--ca-file` also verifies the host name.
  const what = mode === 'verify-full' || (isOption && mode !== 'verify-ca') ? 'full' : 'chain';
  return { what, ca: { file: caFile, pem: readCertificates(caFile, readText) } };
}

function readCertificates(file: string, readText: (path: string) => string | undefined): string {
  const pem = readText(file);
  if (pem === undefined)
    throw usageError(`could not read the CA file ${file}: it does not exist`, 'give the path of a PEM file');
  try {
    new X509Certificate(pem);
  } catch {
    throw usageError(
      `the CA file ${file} contains no certificate`,
      'give certificates in PEM format (BEGIN CERTIFICATE)',
    );
  }
  return pem;
}

/** A PostgreSQL server, a database and the role that logs in. */
export interface PostgresqlEndpoint {
  /** A host name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly dbname: string;
  readonly username: string;
  /** The password that the user gave; undefined without a password. */
  readonly password: Secret | undefined;
  readonly ssl: 'require' | 'disable';
  /**
   * How the certificate of the server is verified. Without `verify` the connection is only encrypted, like the
   * connection of the service.
   */
  readonly verify?: CertificateVerification | undefined;
  /** Whether the password may be sent in clear text to a server whose certificate was not verified. */
  readonly allowCleartextPassword?: boolean | undefined;
  /** The IP address of `host`, so that the name is resolved only once. */
  readonly address?: string | undefined;
  /** How a connection string in `--host` contradicts other options. */
  readonly contradictions?: readonly string[] | undefined;
}

/** The source options of the command line; undefined if not given. */
export interface EndpointOptions {
  /** `--source`. */
  readonly source?: string | undefined;
  /**
   * The value of `CLOUDCTL_SOURCE`: each option overrides one part of the value, and `--host` replaces the whole value.
   */
  readonly environment?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly dbname?: string | undefined;
  readonly username?: string | undefined;
  readonly disableSsl?: boolean | undefined;
  readonly caFile?: string | undefined;
  readonly allowCleartextPassword?: boolean | undefined;
}

interface ParsedEndpoint {
  readonly engine: 'postgresql';
  readonly source: PostgresqlEndpoint;
  /** Whether the password was in a command-line argument, where other users of the machine can see it. */
  readonly passwordInUrl: boolean;
  /** Notes for the user about the interpretation of the options. */
  readonly notes: readonly string[];
}

/**
 * Throws a CliError (usage) for options that do not describe a source.
 * @param readText returns the text of a file, undefined when there is none
 */
export function parsePostgresqlEndpoint(
  sourceOptions: EndpointOptions,
  readText: (path: string) => string | undefined,
): ParsedEndpoint {
  const individual = individualOptions(sourceOptions);
  const text = connectionStringIn(sourceOptions);
  const parameters: ConnectionParameters = text === undefined ? new Map() : parseConnectionString(text.text, text.what);
  const notes = text === undefined ? [] : validateParameters(parameters, text.what);
  const merged = (name: SourceField) =>
    text?.weak === true
      ? (individual.get(name) ?? parameters.get(name))
      : (parameters.get(name) ?? individual.get(name));
  const contradictions = text === undefined || text.weak ? [] : contradicting(parameters, individual, text.what);
  if (text?.what === '--source' && contradictions.length > 0) {
    throw usageError(contradictions[0]!, 'give the value once, in --source or in its own option');
  }
  const username = merged('user') ?? missing('user', '--username USER');
  const password = parameters.get('password');
  const ssl = parseSslOptions(parameters, sourceOptions, readText);
  return {
    engine: 'postgresql',
    source: {
      host: readHost(merged('host')),
      port: readPort(merged('port') ?? '5432'),
      // As in libpq, a connection string without a database means the database with the name of the user.
      dbname: merged('dbname') ?? (text === undefined ? missing('database', '--dbname NAME') : username),
      username,
      password: password === undefined ? undefined : new Secret(password),
      ssl: ssl.ssl,
      ...(ssl.verify === undefined ? {} : { verify: ssl.verify }),
      ...(sourceOptions.allowCleartextPassword === true ? { allowCleartextPassword: true } : {}),
      ...(contradictions.length === 0 ? {} : { contradictions }),
    },
    passwordInUrl: password !== undefined && text?.weak === false,
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
  /** Whether options may override parts of the connection string without an error. */
  readonly weak: boolean;
}

function connectionStringIn({ source, environment, host }: EndpointOptions): ConnectionStringInput | undefined {
  if (source !== undefined) return { text: source, what: '--source', weak: false };
  if (host !== undefined) {
    return isConnectionString(host) ? { text: host.trim(), what: '--host', weak: false } : undefined;
  }
  return environment === undefined || environment === ''
    ? undefined
    : { text: environment, what: 'CLOUDCTL_SOURCE', weak: true };
}

/** The options as individual parameters, without a connection string in `--host`. */
function individualOptions({ host, port, dbname, username }: EndpointOptions): ReadonlyMap<SourceField, string> {
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
  individual: ReadonlyMap<SourceField, string>,
  what: string,
): readonly string[] {
  return [...individual].flatMap(([name, value]) => {
    const other = parameters.get(name);
    return other === undefined || other === value
      ? []
      : [`${what} has the ${name} ${other}, and ${optionNames[name]} is ${value}`];
  });
}

/** The name (in ASCII) or address of a host, without brackets. Throws a CliError (usage). */
export function readHost(text: string | undefined): string {
  const host = text?.trim().replace(/^\[(.*)\]$/, '$1') ?? '';
  if (host === '')
    throw usageError('the host of the source is missing', 'give the public name or address of the server: --host HOST');
  if (/^[/@]/.test(host)) {
    throw usageError(
      'the host is a Unix-domain socket, which the service cannot reach',
      'give the public name or address of the server',
    );
  }
  if (host.includes(',')) throw multipleHostsError('--host');
  if (isIP(host) !== 0) return host;
  if (/^[^:]*:\d+$/.test(host)) throw usageError('the host contains a port', 'give the port as --port');
  const ascii = /^[\x21-\x7e]+$/.test(host) ? host : domainToASCII(host);
  // A host name may contain only letters, digits, `_`, `-` and `.`; no other name has an address in DNS.
  if (!/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i.test(ascii)) {
    throw usageError('the host is not a host name or an address', 'give the name without scheme, path or spaces');
  }
  return ascii;
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw usageError('the port is not a number from 1 to 65535', 'give the port of the server: --port 5432');
  return port;
}

function missing(what: string, option: string): never {
  throw usageError(
    `the ${what} of the source is missing`,
    `give it as ${option}, or in --source postgres://USER@HOST:PORT/DBNAME`,
  );
}
