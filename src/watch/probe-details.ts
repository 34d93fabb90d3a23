import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { TlsSession } from '../platform/tls-session.ts';

/**
 * IP addresses of a host name, sorted, because DNS returns them in any order; undefined: an IP address was given, or the name
 * was not resolved.
 */
export async function resolveAddresses(host: string): Promise<string | undefined> {
  if (isIP(host) !== 0) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []);
  const addresses = found.map(({ address }) => address).sort();
  return addresses.length === 0 ? undefined : addresses.join(', ');
}

/** Subject, issuer and expiry of the certificate; undefined: no TLS. */
export function describeCertificate(tls: TlsSession | undefined): string | undefined {
  const certificate = tls?.certificate;
  if (certificate === undefined) return undefined;
  const until = Number.isFinite(certificate.validTo) ? new Date(certificate.validTo).toISOString() : 'unknown';
  return `${certificate.subject} signed by ${certificate.issuer}, valid until ${until}`;
}
