import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { CliError } from '../base/errors.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { fileErrorCode, readBytes, UnusableFileError } from './files.ts';
import type { ProcessEnvironment } from './host.ts';

/** The files in which systems keep the CA certificates that they trust; `update-ca-certificates` writes the first one. */
const systemBundles = [
  // Debian, Arch, Gentoo
  '/etc/ssl/certs/ca-certificates.crt',
  // Fedora, RHEL
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  // openSUSE
  '/etc/ssl/ca-bundle.pem',
  // Alpine, macOS
  '/etc/ssl/cert.pem',
] as const;

/** CA certificates that are trusted in addition to those of Node.js. */
interface AddedCertificates {
  /** The file, with the variable that names it. */
  readonly source: string;
  readonly count: number;
}

/**
 * Which CA certificates https connections trust. A connection begins with the default of Node.js, because the certificates of
 * the system cost 20 ms and are needed by few: they are added when the issuer of a certificate is unknown.
 */
export class Trust {
  readonly #env: ProcessEnvironment;
  readonly #bundles: readonly string[];
  #named: CertificateFile | undefined;
  #added: AddedCertificates | undefined;
  #wide: SecureContext | undefined;

  constructor(env: ProcessEnvironment, bundles: readonly string[] = systemBundles) {
    this.#env = env;
    this.#bundles = bundles;
  }

  /** The certificates that were added, since the first certificate whose issuer was unknown. */
  get added(): AddedCertificates | undefined {
    return this.#added;
  }

  /** The file of SSL_CERT_FILE, if it is set. Throws `config_invalid` if it cannot be used. */
  named(): AddedCertificates | undefined {
    const path = this.#env.SSL_CERT_FILE;
    if (!path) return undefined;
    this.#named ??= { source: `SSL_CERT_FILE=${sanitizeLine(path)}`, certificates: requireCertificates(path) };
    return { source: this.#named.source, count: this.#named.certificates.length };
  }

  /** What to connect with, one after the other, while the issuer is unknown. `undefined` is the default of Node.js. */
  *contexts(): Generator<SecureContext | undefined> {
    const wide = this.#wide;
    if (wide !== undefined) yield wide;
    yield undefined;
    const wider = wide === undefined ? this.#widen() : undefined;
    if (wider !== undefined) yield wider;
  }

  #widen(): SecureContext | undefined {
    if (this.#wide !== undefined) return this.#wide;
    this.named();
    const file = this.#named ?? this.#systemBundle();
    if (file === undefined) return undefined;
    // Node.js reads NODE_EXTRA_CA_CERTS for its default only, and has warned if it could not.
    const extra = this.#env.NODE_EXTRA_CA_CERTS;
    const extras = extra ? readCertificates(extra) : [];
    this.#added = { source: file.source, count: file.certificates.length };
    // Each certificate is an item of its own, because Node.js ignores what follows a damaged one in the same text.
    this.#wide = createSecureContext({ ca: [...rootCertificates, ...file.certificates, ...extras] });
    return this.#wide;
  }

  #systemBundle(): CertificateFile | undefined {
    for (const source of this.#bundles) {
      const certificates = readCertificates(source);
      if (certificates.length > 0) return { source, certificates };
    }
    return undefined;
  }
}

interface CertificateFile {
  readonly source: string;
  /** PEM, one each. */
  readonly certificates: readonly string[];
}

/** One for each environment, so that a process reads its files once. */
const trusts = new Map<string, Trust>();

export function trustOf(env: ProcessEnvironment): Trust {
  const key = JSON.stringify([env.SSL_CERT_FILE, env.NODE_EXTRA_CA_CERTS]);
  const known = trusts.get(key) ?? new Trust(env);
  trusts.set(key, known);
  return known;
}

/** The certificates of a file, without those that are damaged; none if the file cannot be read. */
function readCertificates(path: string): readonly string[] {
  try {
    return splitPem(decode(readBytes(path, maxBytes) ?? Buffer.alloc(0))).map(({ pem }) => pem);
  } catch {
    return [];
  }
}

/** Throws `config_invalid` with what is wrong with the file that SSL_CERT_FILE names. */
function requireCertificates(path: string): readonly string[] {
  const bytes = readNamedFile(path);
  const text = decode(bytes);
  const blocks = splitPem(text);
  const damaged = blocks.find(({ pem }) => !isCertificate(pem));
  if (damaged !== undefined) {
    const line = text.slice(0, damaged.index).split('\n').length;
    throw unusable(`the certificate at line ${line} of ${path} is damaged`);
  }
  if (blocks.length === 0 && isCertificate(bytes)) throw unusable(`${path} is in DER form`, convertHint);
  if (blocks.length === 0) throw unusable(`${path} has no certificate in PEM form`);
  return blocks.map(({ pem }) => pem);
}

const convertHint =
  'run `openssl x509 -inform der -in "$SSL_CERT_FILE" -out ca.pem` and `export SSL_CERT_FILE="$PWD/ca.pem"`';

function readNamedFile(path: string): Buffer {
  try {
    const bytes = readBytes(path, maxBytes);
    if (bytes !== undefined) return bytes;
    throw unusable(`${path} does not exist`);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof UnusableFileError) throw unusable(`${path} ${error.what}`);
    const code = String(fileErrorCode(error));
    throw unusable(`${path} ${systemReasons[code] ?? `cannot be read (${code})`}`);
  }
}

const systemReasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'is a symbolic link to itself',
};

function unusable(detail: string, hint = 'set SSL_CERT_FILE to a PEM file, or `unset SSL_CERT_FILE`'): CliError {
  return new CliError('config_invalid', 'SSL_CERT_FILE is not a file of CA certificates', {
    detail: sanitizeLine(detail),
    hint,
  });
}

/** The bundle of a system has 200 to 600 kB. */
const maxBytes = 16 * 1024 * 1024;

/** Windows PowerShell writes redirected output as UTF-16. */
function decode(bytes: Buffer): string {
  const text = bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le') : bytes.toString('utf8');
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
}

/**
 * The certificates among other text and other PEM objects, as OpenSSL finds them: BEGIN is at the start of a line, so that a
 * certificate can be commented out. A block without an end is a damaged certificate.
 */
function splitPem(text: string): readonly { readonly index: number; readonly pem: string }[] {
  return [...text.matchAll(/^-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----\s[^-]*(?:-----END \1-----)?/gm)].map(
    ({ 0: pem, index }) => ({ index, pem }),
  );
}

function isCertificate(pemOrDer: string | Buffer): boolean {
  try {
    new X509Certificate(pemOrDer);
    return true;
  } catch {
    return false;
  }
}
