import type { Violation } from './status-sample.ts';

/** What a stranger met who came as the target would: a session that is open notices nothing of what is new. */
export interface ConnectionProbe {
  /** Sorted addresses of the name; undefined: an address was given, or nothing was found. */
  readonly addresses: string | undefined;
  /** Who signed the certificate for whom, until when; undefined: no TLS. */
  readonly certificate: string | undefined;
  /** Why nobody new is let in. */
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
