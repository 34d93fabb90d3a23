import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ConnectError, type TlsInfo } from '../../platform/network-errors.ts';
import type { Violation } from './sample.ts';

/**
 * The result of a new connection with the settings that the target uses. A new connection is needed, because an open
 * session is not affected by changed passwords, pg_hba.conf rules or certificates.
 */
export interface ConnectionProbe {
  /** Sorted IP addresses of the host name; undefined if the host is an IP address, or if the name was not resolved. */
  readonly addresses: string | undefined;
  /** Subject, issuer and expiry of the server certificate; undefined without TLS. */
  readonly certificate: string | undefined;
  /** Why the connection was refused; undefined if it succeeded. */
  readonly refused: { readonly code: string; readonly message: string } | undefined;
}

export function probeViolations(
  before: ConnectionProbe | undefined,
  after: ConnectionProbe | undefined,
  engine: 'postgresql' | 'redis',
): readonly Violation[] {
  if (before === undefined || after === undefined) return [];
  const violations: Violation[] = [];
  if (after.refused !== undefined && before.refused === undefined) {
    violations.push({
      rule: 'login-refused',
      ...describeRefusal(after.refused, engine),
    });
  }
  if (before.addresses !== undefined && after.addresses !== undefined && before.addresses !== after.addresses) {
    violations.push({
      rule: 'dns-changed',
      observed: `the host name of the source changed from ${before.addresses} to ${after.addresses}`,
      hint: 'if this is another server, restore the DNS record: the migration cannot continue there',
    });
  }
  if (before.certificate !== undefined && after.certificate !== undefined && before.certificate !== after.certificate) {
    violations.push({
      rule: 'certificate-replaced',
      observed: `the server certificate was replaced: ${after.certificate}`,
      hint: 'make sure that the target trusts the new certificate, if it verifies certificates',
    });
  }
  return violations;
}

function describeRefusal(
  { code, message }: NonNullable<ConnectionProbe['refused']>,
  engine: 'postgresql' | 'redis',
): Pick<Violation, 'observed' | 'hint'> {
  const reconnects = 'the target would be refused when it reconnects';
  if (['28P01', 'WRONGPASS', 'NOAUTH'].includes(code))
    return {
      observed: `a new connection is refused with the known password: ${message}`,
      hint: `if the password was changed, restore it: ${reconnects}`,
    };
  const parts = engine === 'redis' ? 'ACL, TLS, maxclients' : 'pg_hba.conf, role, TLS, connection limit';
  return {
    observed: `a new connection is refused: ${message}`,
    hint: `undo the change (${parts}): ${reconnects}`,
  };
}

/**
 * Opens a new connection to a source and reports its addresses and certificate, or why it was refused.
 * @param connectOnce opens a connection, closes it and resolves with its TLS session
 */
export async function probeConnection(
  host: string,
  connectOnce: () => Promise<TlsInfo | undefined>,
): Promise<ConnectionProbe> {
  const addresses = await resolveAddresses(host);
  try {
    return { addresses, certificate: describeCertificate(await connectOnce()), refused: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { addresses, certificate: undefined, refused: { code: error.code, message: error.message } };
  }
}

/**
 * IP addresses of a host name, sorted because DNS returns them in any order; undefined if an IP address was given, or
 * if the name was not resolved.
 */
async function resolveAddresses(host: string): Promise<string | undefined> {
  if (isIP(host) !== 0) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []);
  const addresses = found.map(({ address }) => address).sort();
  return addresses.length === 0 ? undefined : addresses.join(', ');
}

/** Subject, issuer and expiry of the server certificate; undefined without TLS. */
function describeCertificate(tls: TlsInfo | undefined): string | undefined {
  const certificate = tls?.certificate;
  if (certificate === undefined) return undefined;
  const until = Number.isFinite(certificate.validTo) ? new Date(certificate.validTo).toISOString() : 'unknown';
  return `${certificate.subject} signed by ${certificate.issuer}, valid until ${until}`;
}
