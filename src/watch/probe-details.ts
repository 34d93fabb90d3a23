import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { TlsSession } from '../platform/tls-session.ts';

/** Sorted, because answers come in any order; undefined: an address, or a name that is not answered just now. */
export async function resolveAddresses(host: string): Promise<string | undefined> {
  if (isIP(host) !== 0) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []);
  const addresses = found.map(({ address }) => address).sort();
  return addresses.length === 0 ? undefined : addresses.join(', ');
}

/** What a new certificate would say differently; undefined: no TLS. */
export function describeCertificate(tls: TlsSession | undefined): string | undefined {
  const certificate = tls?.certificate;
  if (certificate === undefined) return undefined;
  const until = Number.isFinite(certificate.validTo) ? new Date(certificate.validTo).toISOString() : 'unknown';
  return `${certificate.subject} signed by ${certificate.issuer}, valid until ${until}`;
}
