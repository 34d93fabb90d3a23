import type { Violation } from './status-sample.ts';

/**
 * The result of a new connection with the target's settings. A session that is already open does not notice changed passwords,
 * host rules or certificates.
 */
export interface ConnectionProbe {
  /** Sorted IP addresses of the host name; undefined: the host is an IP address, or the name was not resolved. */
  readonly addresses: string | undefined;
  /** Subject, issuer and expiry of the server certificate; undefined: no TLS. */
  readonly certificate: string | undefined;
  /** Why the connection was refused; undefined: it succeeded. */
  readonly refused: { readonly code: string; readonly message: string } | undefined;
}

export function checkConnectionProbe(
  before: ConnectionProbe | undefined,
  after: ConnectionProbe | undefined,
): readonly Violation[] {
  if (before === undefined || after === undefined) return [];
  const violations: Violation[] = [];
  if (after.refused !== undefined && before.refused === undefined) {
    violations.push({
      rule: 'login-refused',
      observed: `a new connection is refused: ${after.refused.message}`,
      hint: 'the target will be refused as well when it connects again: put back what was changed (password, host rules, TLS, connections)',
    });
  }
  if (before.addresses !== undefined && after.addresses !== undefined && before.addresses !== after.addresses) {
    violations.push({
      rule: 'dns-changed',
      observed: `the name of the source was ${before.addresses} and is ${after.addresses}`,
      hint: 'if that is another server, the migration cannot go on there: put the name back',
    });
  }
  if (before.certificate !== undefined && after.certificate !== undefined && before.certificate !== after.certificate) {
    violations.push({
      rule: 'certificate-replaced',
      observed: `the certificate is another: ${after.certificate}`,
      hint: 'a target that verifies it must trust the new one',
    });
  }
  return violations;
}
