import { type PreflightCheckOutcome, passOutcome, warnOutcome } from '../finding.ts';
import { isConnectedOverLoopback } from './evaluate-host.ts';
import type { SourceAddressFacts, TlsFacts } from './network-facts.ts';

/** Evaluates whether it is certain which server responded, from the TLS certificate. */
export function evaluateTlsServerIdentity(
  address: SourceAddressFacts,
  tls: TlsFacts,
  isEncrypted: boolean,
  fix: string,
): PreflightCheckOutcome {
  if (isConnectedOverLoopback(address)) return passOutcome('the server is on this machine');
  if (tls.verified === true) return passOutcome('the certificate was verified');
  return warnOutcome(isEncrypted ? 'TLS, certificate not verified' : 'no TLS', {
    required: 'a verified certificate',
    detail:
      'Anyone on the network path can answer in place of the server: everything in this report may come from another server. The service does not verify the certificate either.',
    fix: { text: fix },
  });
}
