import { isIP } from 'node:net';
import { usageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { readFileNamedByUser } from '../../cli/user-file.ts';
import { requireWholeNumber } from '../../cli/values.ts';
import { normalizeEnvironmentVariableValue } from '../../config/settings.ts';
import { browserBlockedPorts } from '../../config/urls.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { isLoopbackListener, type PublicAddress, parsePublicAddress } from '../../sandbox/http/origin.ts';
import { requireCertificate } from '../../sandbox/http/server.ts';
import type { ServerOptions } from '../../sandbox/sandbox.ts';

/** The options of `sandbox start` that determine its addresses. */
export const sandboxListenOptionSpecs: readonly OptionSpec[] = [
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

export type SandboxListenOptions = Pick<
  ServerOptions,
  'host' | 'port' | 'apiPort' | 'publicName' | 'adminToken' | 'tls'
>;

/** Reads the addresses of the sandbox, before anything is started. Throws `usage` for options that contradict each other. */
export function readSandboxListenOptions(args: ParsedArgs, env: ProcessEnvironment): SandboxListenOptions {
  const [port, apiPort] = (['port', 'api-port'] as const).map((name) => {
    const text = args.value(name);
    return text === undefined ? undefined : requireWholeNumber(text, `--${name}`, { min: 0, max: 65_535 });
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

function readCertificate(args: ParsedArgs): SandboxListenOptions['tls'] {
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

function readPem(option: string, file: string): string {
  const text = readFileNamedByUser(file);
  if (text !== undefined) return text;
  throw usageError(
    `the file of ${option} does not exist: ${sanitizeLine(file)}`,
    `pass an existing PEM file with \`${option}\``,
  );
}

/** The warning that other machines reach the sandbox; undefined when only this machine reaches it. */
export function exposedSandboxWarning(
  { host, publicName, tls }: SandboxListenOptions,
  isSeeded: boolean,
): string | undefined {
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
  if (name === undefined || browserBlockedPorts.has(name.port))
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
  const token = normalizeEnvironmentVariableValue(env.CLOUDCTL_SANDBOX_ADMIN_TOKEN);
  if (token === undefined || /^[A-Za-z0-9_-]{16,256}$/.test(token)) return token;
  throw usageError(
    'CLOUDCTL_SANDBOX_ADMIN_TOKEN is not 16 to 256 letters, digits, hyphens or underscores',
    'set the variable to a random value, such as the output of `openssl rand -hex 24`, or unset the variable',
  );
}
