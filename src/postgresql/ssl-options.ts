import { X509Certificate } from 'node:crypto';
import { usageError } from '../base/errors.ts';
import type { PostgresqlConnectionParameters } from './connection-string.ts';

/** How the certificate of the server is verified. */
export interface CertificateVerification {
  /** `chain`: a trusted CA issued the certificate; `full`: in addition, the certificate contains the host name. */
  readonly what: 'chain' | 'full';
  /** The trusted certificates (PEM) and their file; absent: those of Node.js. */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
}

/**
 * Whether a successful TLS handshake proves the identity of the server. Without a check of the host name, a certificate
 * of a public CA proves nothing, because anyone can get such a certificate for their own name.
 */
export function verifiesServerIdentity(verify: CertificateVerification | undefined): boolean {
  return verify !== undefined && (verify.what === 'full' || verify.ca !== undefined);
}

export interface ParsedSslOptions {
  readonly ssl: 'require' | 'disable';
  readonly verify: CertificateVerification | undefined;
  readonly notes: readonly string[];
}

/**
 * Combines sslmode, sslrootcert, `--disable-ssl` and `--ca-file`. Throws a CliError (usage) if these options contradict
 * each other.
 */
export function parseSslOptions(
  parameters: PostgresqlConnectionParameters,
  options: { readonly disableSsl?: boolean | undefined; readonly caFile?: string | undefined },
  readText: (path: string) => string | undefined,
): ParsedSslOptions {
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

function sslModeOf(parameters: PostgresqlConnectionParameters): Mode | undefined {
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
