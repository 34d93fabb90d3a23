import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type CliError, usageError } from '../../base/errors.ts';
import { tryParseJson } from '../../base/json.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import type { OutputWriter } from '../../cli/output.ts';
import { readInput, readUserFile } from '../../cli/user-file.ts';
import { requireInteger, shortenInput } from '../../cli/values.ts';
import { variableValue } from '../../config/settings.ts';
import { blockedPorts } from '../../config/urls.ts';
import type { HostSystem, ProcessEnvironment } from '../../platform/host.ts';
import { isLoopbackListener, type PublicAddress, parsePublicAddress } from '../../sandbox/http/origin.ts';
import { findRepeatedMember } from '../../sandbox/http/request.ts';
import { requireCertificate, type TlsCertificate } from '../../sandbox/http/server.ts';
import type { ServerOptions } from '../../sandbox/sandbox.ts';

/** The options of `sandbox start` that determine its addresses. */
export const listenOptions: readonly OptionSpec[] = [
  {
    name: 'port',
    valueName: 'PORT',
    description: 'port of the authorization server; 0 is any free port (default: 0)',
  },
  { name: 'api-port', valueName: 'PORT', description: 'port of the resource API; 0 is any free port (default: 0)' },
  { name: 'host', valueName: 'HOST', description: 'loopback address to listen on (default: 127.0.0.1)' },
  {
    name: 'listen',
    valueName: 'ADDRESS',
    description: 'IP address to listen on, such as 0.0.0.0 in a container; requires --public-name',
  },
  {
    name: 'public-name',
    valueName: 'HOST:PORT',
    description: 'host and port of all URLs, with --listen; the API has --api-port (default: the next port)',
  },
  {
    name: 'tls-cert',
    valueName: 'FILE',
    description: 'certificate of all origins, which then use HTTPS (PEM file with its chain); requires --tls-key',
    completion: 'file',
  },
  {
    name: 'tls-key',
    valueName: 'FILE',
    description: 'private key of --tls-cert (PEM file without a passphrase)',
    completion: 'file',
  },
];

type ListenOptions = Pick<ServerOptions, 'host' | 'port' | 'apiPort' | 'publicName' | 'adminToken' | 'tls'>;

/** Reads what the sandbox starts with, and the warnings about it. Throws `usage` before anything is started. */
export async function startOptions(
  { host, output }: CommandIo,
  args: ParsedArgs,
): Promise<{ readonly options: ServerOptions; readonly warnings: readonly string[] }> {
  const { env } = host;
  const listen = readListen(args, env);
  const number = (name: string, max: number): number | undefined => {
    const text = args.value(name);
    return text === undefined ? undefined : requireInteger(text, `--${name}`, { min: 0, max });
  };
  const [seed, dropletLimit] = [number('seed', 2 ** 31 - 1), number('droplet-limit', 1_000_000)];
  const [rateLimit, state, file] = ['rate-limit', 'state', 'data'].map((name) => args.value(name));
  const callbackUrls = args.values('callback-url');
  const options = {
    ...listen,
    ...(seed === undefined ? {} : { seed }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(state === undefined ? {} : { state }),
    ...(dropletLimit === undefined ? {} : { dropletLimit }),
    ...(callbackUrls.length === 0 ? {} : { callbackUrls }),
    data: file === undefined ? undefined : await readData(host.stdin, output.note, file),
    clusters: readClusters(args, env),
    env,
    finishWhenIdle: args.has('finish-when-idle'),
    allowSuperuserObjects: args.has('allow-superuser-objects'),
    users: args.values('user'),
    apps: args.values('app').map(parseAppOption),
    revokeOnReplay: args.has('revoke-on-replay'),
    unknownTokenStatus: args.value('unknown-token-status') === '401' ? (401 as const) : (404 as const),
  };
  const warnings = [passwordWarning(args), exposureWarning(listen, seed !== undefined)];
  return { options, warnings: warnings.filter((warning) => warning !== undefined) };
}

/** Reads the addresses of the sandbox, before anything is started. Throws `usage` for options that contradict each other. */
function readListen(args: ParsedArgs, env: ProcessEnvironment): ListenOptions {
  const [port, apiPort] = (['port', 'api-port'] as const).map((name) => {
    const text = args.value(name);
    return text === undefined ? undefined : requireInteger(text, `--${name}`, { min: 0, max: 65_535 });
  });
  const listen = readListenAddress(args);
  const host = listen ?? args.value('host');
  const publicName = readPublicName(args, listen);
  const tls = readCertificate(args);
  if (publicName === undefined)
    return {
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(apiPort === undefined ? {} : { apiPort }),
      ...(tls === undefined ? {} : { tls }),
    };
  requirePublicPorts(publicName, port, apiPort);
  const adminToken = readAdminToken(env);
  return {
    ...(host === undefined ? {} : { host }),
    publicName,
    ...(apiPort === undefined ? {} : { apiPort }),
    ...(adminToken === undefined ? {} : { adminToken }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function readCertificate(args: ParsedArgs): ListenOptions['tls'] {
  const [certFile, keyFile] = [args.value('tls-cert'), args.value('tls-key')];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (keyFile === undefined)
    throw usageError(
      '--tls-cert requires --tls-key',
      'add the private key of the certificate, such as `--tls-key key.pem`',
    );
  if (certFile === undefined)
    throw usageError('--tls-key requires --tls-cert', 'add the certificate of the key, such as `--tls-cert cert.pem`');
  const tls = { cert: readPem('--tls-cert', certFile), key: readPem('--tls-key', keyFile) };
  try {
    requireCertificate(tls);
  } catch (error) {
    throw usageError(
      error instanceof Error ? error.message : String(error),
      'pass a certificate and its own private key without a passphrase, both as PEM',
    );
  }
  return tls;
}

/** The warning about a certificate that does not name the host of the URLs; undefined when it does. */
export function certificateWarning({ cert }: TlsCertificate, url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const certificate = new X509Certificate(cert);
  if ((isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined) return undefined;
  const names = sanitizeLine(certificate.subjectAltName ?? certificate.subject);
  const remedy =
    certificate.checkHost('localhost') === undefined ? '' : '; with `--host localhost` the URLs have its name';
  return `clients refuse the certificate of --tls-cert, which does not name ${host}: it names ${names}${remedy}`;
}

/** Whether a client that trusts the file of the certificate trusts the certificate: the file has a root. */
export function isOwnRoot({ cert }: TlsCertificate): boolean {
  const all = cert.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return all.map((pem) => new X509Certificate(pem)).some((one) => one.checkIssued(one));
}

function readPem(option: string, file: string): string {
  const text = readUserFile(file);
  if (text !== undefined) return text;
  throw usageError(
    `the file of ${option} does not exist: ${sanitizeLine(file)}`,
    `pass an existing PEM file with \`${option}\``,
  );
}

/** The warning that other machines reach the sandbox; undefined when only this machine reaches it. */
function exposureWarning({ host, publicName, tls }: ListenOptions, isSeeded: boolean): string | undefined {
  if (host === undefined || publicName === undefined || isLoopbackListener(host)) return undefined;
  const secrets = isSeeded
    ? 'with --seed, everyone can compute the passwords of its users and the client secrets; '
    : '';
  return `the sandbox listens on ${host}: every machine that reaches this address can use its sign-in page, token endpoint and API${tls === undefined ? ' without encryption' : ''}; ${secrets}the admin API and the control panel require the admin token`;
}

function readListenAddress(args: ParsedArgs): string | undefined {
  const listen = args.value('listen');
  if (listen === undefined) return undefined;
  if (args.value('host') !== undefined) throw usageError('cannot use --listen together with --host', 'remove `--host`');
  if (isIP(listen) === 0)
    throw usageError(
      `--listen is not an IP address: ${sanitizeLine(listen)}`,
      'pass an address without a port, such as `--listen 0.0.0.0`',
    );
  return listen;
}

function readPublicName(args: ParsedArgs, listen: string | undefined): PublicAddress | undefined {
  const text = args.value('public-name');
  if (text === undefined) {
    if (listen === undefined || isLoopbackListener(listen)) return undefined;
    throw usageError(
      '--listen requires --public-name, unless the address is a loopback address',
      'add the name that clients use, such as `--public-name sandbox:8080`',
      'requests with another Host header are refused, which prevents DNS rebinding',
    );
  }
  if (listen === undefined)
    throw usageError('--public-name requires --listen', 'add the address to listen on, such as `--listen 0.0.0.0`');
  const name = parsePublicAddress(text);
  if (name === undefined || blockedPorts.has(name.port))
    throw usageError(
      `--public-name is not HOST:PORT of a URL: ${sanitizeLine(text)}`,
      'pass the name and the port that clients use, such as `--public-name sandbox:8080`',
    );
  return name;
}

function requirePublicPorts(name: PublicAddress, port: number | undefined, apiPort: number | undefined): void {
  if (port !== undefined && port !== name.port)
    throw usageError(
      `--port is ${port}, but --public-name has port ${name.port}`,
      'remove `--port`, and publish the port of the container under the same number',
    );
  if (apiPort === undefined && name.port === 65_535)
    throw usageError('--public-name has port 65535, so there is no next port for the resource API', 'add `--api-port`');
  if (apiPort === name.port)
    throw usageError('--api-port is the port of --public-name', 'pass another port with `--api-port`');
}

/**
 * The admin token comes from an environment variable: other containers must know it before the start, and arguments of a
 * command are visible to other users.
 */
function readAdminToken(env: ProcessEnvironment): string | undefined {
  const token = variableValue(env.CLOUDCTL_SANDBOX_ADMIN_TOKEN);
  if (token === undefined || /^[A-Za-z0-9_-]{16,256}$/.test(token)) return token;
  throw usageError(
    'CLOUDCTL_SANDBOX_ADMIN_TOKEN is not 16 to 256 letters, digits, hyphens or underscores',
    'set the variable to a random value, such as the output of `openssl rand -hex 24`, or unset the variable',
  );
}

/** A database cluster of the sandbox, with the real server into which migrations copy data. */
interface ClusterUrl {
  readonly name: string;
  /** The URL of the server, which may contain a password. */
  readonly url: string;
}

const variablePrefix = 'CLOUDCTL_CLUSTER_';

/**
 * Reads the database servers from `--cluster NAME=URL` and from variables such as `CLOUDCTL_CLUSTER_PG`, which sets the cluster
 * `pg`. For the same cluster name, the option takes precedence over the variable.
 */
export function readClusters(args: ParsedArgs, env: ProcessEnvironment): readonly ClusterUrl[] {
  const typed = args.values('cluster').map(parseClusterOption);
  const twice = typed.find(({ name }, at) => typed.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw usageError(`cluster ${twice.name} is given twice`, 'pass each cluster once');
  const environment = Object.entries(env).flatMap(([name, value]) => {
    const url = variableValue(value);
    return name.startsWith(variablePrefix) && name.length > variablePrefix.length && url !== undefined
      ? [{ name: name.slice(variablePrefix.length).toLowerCase(), url }]
      : [];
  });
  return [...typed, ...environment.filter(({ name }) => typed.every((one) => one.name !== name))];
}

/** The warning about a password in `--cluster`; undefined when no URL has a password. */
function passwordWarning(args: ParsedArgs): string | undefined {
  const [first] = args.values('cluster').filter((text) => /:\/\/[^/@]*:[^/]+@/.test(text));
  if (first === undefined) return undefined;
  const { name } = parseClusterOption(first);
  return `the password in --cluster is visible to other users of this machine; set ${variablePrefix}${name.toUpperCase()} instead`;
}

function parseClusterOption(text: string): ClusterUrl {
  const [, name = '', url = ''] = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(.+)$/s.exec(text) ?? [];
  if (name === '')
    throw usageError(
      '--cluster is not NAME=URL',
      'use a form such as `--cluster pg=postgres://USER@127.0.0.1:5432/postgres`',
    );
  return { name, url };
}

function parseAppOption(text: string): { readonly name: string; readonly callbackUrl: string } {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError('--app is not NAME=URL', 'use a form such as `--app "My tool=http://127.0.0.1:9000/callback"`');
  return { name: text.slice(0, at), callbackUrl: text.slice(at + 1) };
}

async function readData(stdin: HostSystem['stdin'], note: OutputWriter['note'], file: string): Promise<unknown> {
  const what = file === '-' ? 'the data on standard input' : `the data in ${sanitizeLine(file)}`;
  const content = await readInput({ stdin, note }, file, {
    what,
    readError: (reason) => usageError(`could not read ${what}: ${reason}`, 'pass a JSON file that you can read'),
    maxBytes: { bytes: MAX_DATA, hint: 'pass a smaller file' },
  });
  const text = content.toString('utf8');
  const json = tryParseJson(text);
  if (!json.ok) throw dataError(file, `the text ${json.reason}`);
  const repeated = findRepeatedMember(text);
  if (repeated !== undefined) throw dataError(file, `an object has the member ${shortenInput(repeated)} twice`);
  return json.value;
}

const MAX_DATA = 64 * 1024 * 1024;

/** The error for data of `--data` that the sandbox cannot start with. */
export function dataError(file: string | undefined, problem: string): CliError {
  const what = file === undefined || file === '-' ? 'standard input' : sanitizeLine(file);
  return usageError(
    `${what} is not valid sandbox data`,
    'correct the data; schemas/sandbox-data-1.json in the package describes them',
    problem,
  );
}
