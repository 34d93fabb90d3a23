import { type CheckOutcome, pass, warn } from '../finding.ts';
import { isConnectedOverLoopback } from './evaluate-host.ts';
import type { AddressFacts, TlsFacts } from './network-facts.ts';

/** Evaluates whether it is certain which server responded, from the TLS certificate. */
export function evaluateServerIdentity(
  address: AddressFacts,
  tls: TlsFacts,
  isEncrypted: boolean,
  fix: string,
): CheckOutcome {
  if (isConnectedOverLoopback(address)) return pass('the server is on this machine');
  if (tls.verified === true) return pass('the certificate was verified');
  return warn(isEncrypted ? 'TLS, certificate not verified' : 'no TLS', {
    required: 'a verified certificate',
    detail:
      'Anyone on the network path can answer in place of the server: everything in this report may come from another server. The service does not verify the certificate either.',
    fix: { text: fix },
  });
}
