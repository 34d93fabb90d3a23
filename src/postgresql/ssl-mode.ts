import { X509Certificate } from 'node:crypto';
import { usageError } from '../errors.ts';
import type { ConnectionParameters } from './connection-string.ts';

/** Whom to trust with the server's certificate. */
export interface CertificateVerification {
  /** `full` compares the name as well. */
  readonly what: 'chain' | 'full';
  /** The certificates to trust (PEM), and where they came from; absent: the usual ones. */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
}

export interface ParsedSslOptions {
  readonly ssl: 'require' | 'disable';
  readonly verify: CertificateVerification | undefined;
  readonly notes: readonly string[];
}

/** What sslmode, sslrootcert, `--disable-ssl` and `--ca-file` say together. */
export function parseSslOptions(
  parameters: ConnectionParameters,
  words: { readonly disableSsl?: boolean | undefined; readonly caFile?: string | undefined },
  readText: (path: string) => string | undefined,
): ParsedSslOptions {
  const mode = sslModeOf(parameters);
  const caFile = words.caFile ?? parameters.get('sslrootcert');
  const off = mode === 'disable' || words.disableSsl === true;
  if (words.disableSsl === true && (mode === 'require' || isVerifying(mode))) {
    throw usageError(`sslmode=${mode} and --disable-ssl contradict each other`, 'leave one of them out');
  }
  if (off && words.caFile !== undefined) {
    throw usageError(
      '--ca-file verifies a certificate, and without TLS there is none',
      'leave --ca-file or --disable-ssl out',
    );
  }
  if (off) return { ssl: 'disable', verify: undefined, notes: [] };
  const soft = mode === 'prefer' || mode === 'allow';
  return {
    ssl: 'require',
    verify: verifyOf(mode, caFile, words.caFile !== undefined, readText),
    notes: soft ? [`sslmode=${mode} is taken as require: a migration uses TLS or does not, it never falls back`] : [],
  };
}

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

function sslModeOf(parameters: ConnectionParameters): Mode | undefined {
  const text = parameters.get('sslmode');
  const said = text === undefined ? undefined : (modes.find((mode) => mode === text) ?? unknownSslMode());
  const short = parseSslFlag(parameters.get('ssl'));
  if (said !== undefined && short !== undefined && (said === 'disable') !== (short === 'disable')) {
    throw usageError(`sslmode=${said} and ssl contradict each other`, 'leave ssl out');
  }
  return said ?? short;
}

/** `ssl=true`, as libpq takes it from other drivers, and what those have beside it: none may be passed over. */
function parseSslFlag(text: string | undefined): Mode | undefined {
  if (text === undefined) return undefined;
  if (/^(true|1|on)$/.test(text)) return 'require';
  if (/^(false|0|off)$/.test(text)) return 'disable';
  throw usageError('the value of ssl is not known', 'say ssl=true or ssl=false, or use sslmode');
}

function unknownSslMode(): never {
  throw usageError('the sslmode is not known', `known are ${modes.join(', ')}`);
}

function isVerifying(mode: Mode | undefined): boolean {
  return mode === 'verify-ca' || mode === 'verify-full';
}

function verifyOf(
  mode: Mode | undefined,
  caFile: string | undefined,
  asked: boolean,
  readText: (path: string) => string | undefined,
): CertificateVerification | undefined {
  if (caFile === undefined || caFile === 'system') {
    if (caFile === undefined && !isVerifying(mode)) return undefined;
    return { what: mode === 'verify-ca' ? 'chain' : 'full' };
  }
  // libpq: with a root certificate, require means verify-ca. The option promises the name as well.
  const what = mode === 'verify-full' || (asked && mode !== 'verify-ca') ? 'full' : 'chain';
  return { what, ca: { file: caFile, pem: readCertificates(caFile, readText) } };
}

function readCertificates(file: string, readText: (path: string) => string | undefined): string {
  const pem = readText(file);
  if (pem === undefined) throw usageError(`the CA file ${file} is not there`);
  try {
    new X509Certificate(pem);
  } catch {
    throw usageError(`the CA file ${file} holds no certificate`, 'give certificates in PEM form (BEGIN CERTIFICATE)');
  }
  return pem;
}
