import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { DatabaseConnectError } from '../../platform/connect-error.ts';
import type { TlsConnectionInfo } from '../../platform/tls-connection-info.ts';
import type { SourceConnectionProbeResult } from './connection-probe.ts';

/**
 * Opens a new connection to a source and reports its addresses and certificate, or why it was refused.
 * @param connectOnce opens a connection, closes it and resolves with its TLS session
 */
export async function probeSourceConnection(
  host: string,
  connectOnce: () => Promise<TlsConnectionInfo | undefined>,
): Promise<SourceConnectionProbeResult> {
  const addresses = await resolveAddresses(host);
  try {
    return { addresses, certificate: describeCertificate(await connectOnce()), refused: undefined };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
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
function describeCertificate(tls: TlsConnectionInfo | undefined): string | undefined {
  const certificate = tls?.certificate;
  if (certificate === undefined) return undefined;
  const until = Number.isFinite(certificate.validTo) ? new Date(certificate.validTo).toISOString() : 'unknown';
  return `${certificate.subject} signed by ${certificate.issuer}, valid until ${until}`;
}
