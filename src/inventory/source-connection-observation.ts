/** What the connection to one source has shown, beside the findings. */
export interface SourceConnectionObservation {
  /** Identifies the server, whatever name leads to it; undefined if there was no login. */
  server: string | undefined;
  /** Why the source could not be checked, as a clause; undefined if it was, or if the server refused the login. */
  unreachable: string | undefined;
  /** Whether the server asked for a password and this machine has none. */
  lacksPassword: boolean;
}

/** Whether a failed login shows nothing about the source: another attempt may succeed without a change of it. */
export function isTransientConnectionErrorCode(code: string): boolean {
  return /^(E[A-Z]{3,}[A-Z0-9_]*|ABORTED|MEMORY|57P0[1-3])$/.test(code);
}
