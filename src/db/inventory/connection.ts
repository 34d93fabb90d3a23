import { describeCode } from '../../platform/network-errors.ts';
import type { AddressFacts } from '../preflight/engines.ts';

/** What the connection to one source has shown, beside the findings. */
export interface ConnectionResult {
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
export function isTransient(code: string): boolean {
  return /^(E[A-Z]{3,}[A-Z0-9_]*|ABORTED|MEMORY|57P0[1-3])$/.test(code);
}

/**
 * Why no address of a source accepts a connection, as a clause; undefined if one does. It names neither host nor address, so that
 * the report of an inventory can list all sources with the same reason together.
 */
export function describeUnreachableAddress({ lookup, connects }: AddressFacts): string | undefined {
  if (lookup.kind === 'failed') return `the host name could not be resolved: ${lookup.reason}`;
  if (connects.some(({ error }) => error === undefined)) return undefined;
  const codes = [...new Set(connects.map(({ error = '' }) => error))];
  return codes.map((code) => reasons[code] ?? describeCode(code)).join(', ');
}

const reasons: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'no response to the connection: a firewall drops the packets, or the host is down',
  ABORTED: 'no response to the connection before the deadline',
};

/** Results of connections to servers that could not be reached, so that not every source waits for the same time limit. */
export interface UnreachableServers<T> {
  /** The result of the last attempt, if the server was tried often enough. */
  readonly find: (server: string) => T | undefined;
  /** Notes the result of an attempt; a successful one clears the earlier ones. */
  readonly add: (server: string, result: T, isUnreachable: boolean) => void;
}

/** @param maxAttempts unreachable so often, a server is not tried again */
export function createUnreachableServers<T>(maxAttempts = 2): UnreachableServers<T> {
  const failures = new Map<string, { readonly result: T; readonly attempts: number }>();
  return {
    find(server) {
      const failed = failures.get(server);
      return failed !== undefined && failed.attempts >= maxAttempts ? failed.result : undefined;
    },
    add(server, result, isUnreachable) {
      if (isUnreachable) failures.set(server, { result, attempts: (failures.get(server)?.attempts ?? 0) + 1 });
      else failures.delete(server);
    },
  };
}
