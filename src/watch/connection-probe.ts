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
  was: ConnectionProbe | undefined,
  is: ConnectionProbe | undefined,
): readonly Violation[] {
  if (was === undefined || is === undefined) return [];
  const told: Violation[] = [];
  if (is.refused !== undefined && was.refused === undefined) {
    told.push({
      rule: 'login-refused',
      observed: `a new connection is refused: ${is.refused.message}`,
      hint: 'the target will be refused as well when it connects again: put back what was changed (password, host rules, TLS, connections)',
    });
  }
  if (was.addresses !== undefined && is.addresses !== undefined && was.addresses !== is.addresses) {
    told.push({
      rule: 'dns-changed',
      observed: `the name of the source was ${was.addresses} and is ${is.addresses}`,
      hint: 'if that is another server, the migration cannot go on there: put the name back',
    });
  }
  if (was.certificate !== undefined && is.certificate !== undefined && was.certificate !== is.certificate) {
    told.push({
      rule: 'certificate-replaced',
      observed: `the certificate is another: ${is.certificate}`,
      hint: 'a target that verifies it must trust the new one',
    });
  }
  return told;
}
