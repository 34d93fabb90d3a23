/** Facts about a source that its connection shows, in addition to the findings of the preflight. */
export interface SourceConnectionObservation {
  /** Identifies the server: it is the same for all host names of the server. Undefined if there was no login. */
  server: string | undefined;
  /**
   * Why the source could not be checked, as a clause; undefined if it was checked, or if the server finally refused the
   * login.
   */
  unreachable: string | undefined;
  /** Whether the server requested a password and this machine has none. */
  lacksPassword: boolean;
}

/** Whether a failed login proves nothing about the source: another attempt may succeed although the source is unchanged. */
export function isTransientConnectionErrorCode(code: string): boolean {
  return /^(E[A-Z]{3,}[A-Z0-9_]*|ABORTED|MEMORY|57P0[1-3])$/.test(code);
}
