import {
  type FindingFix,
  failOutcome,
  type MigrationMethod,
  type PreflightCheckOutcome,
  passOutcome,
  skipOutcome,
  warnOutcome,
} from '../finding.ts';
import type { ConnectAttempt, SourceAddressFacts } from './network-facts.ts';

/** Evaluates the TCP connections only; other checks evaluate how the server responds. */
export function evaluateTcpConnections(
  address: SourceAddressFacts,
  every: readonly MigrationMethod[],
): PreflightCheckOutcome {
  if (address.lookup.kind === 'failed') return skipOutcome(`the host has no address: ${address.lookup.reason}`);
  const bad = address.connects.filter(({ error }) => error !== undefined);
  if (bad.length === 0)
    return passOutcome(address.connects.map((each) => `${formatAddress(each, address)} in ${each.took} ms`).join(', '));
  const observed = bad.map((each) => `${formatAddress(each, address)}: ${failureText(each)}`).join('; ');
  if (bad.length === address.connects.length) {
    return failOutcome(every, observed, {
      required: 'an accepted connection',
      detail: bad.map(explanationOf).filter(unique).join(' '),
      fix: buildOpenPortFix(bad[0]!.error === 'ECONNREFUSED', address.port),
    });
  }
  // The migration service may have a route to the address even if this machine has none.
  const serious = bad.filter(({ error }) => !localErrors.has(error ?? ''));
  if (serious.length === 0)
    return passOutcome(
      `${address.connects.length - bad.length} of ${address.connects.length} addresses accept connections`,
      {
        detail: observed,
      },
    );
  return warnOutcome(observed, {
    required: 'every address of the host accepts connections',
    detail: 'The service may use an address that accepts no connection.',
    fix: {
      text: `Open port ${address.port} on every address of ${address.host}, or give an address that accepts connections.`,
    },
  });
}

const localErrors = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETDOWN']);

function formatAddress({ address }: ConnectAttempt, { port }: SourceAddressFacts): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function failureText({ error = '', took }: ConnectAttempt): string {
  if (error === 'ECONNREFUSED') return 'connection refused';
  if (error === 'ETIMEDOUT') return `no response within ${Math.max(1, Math.round(took / 1000))} s`;
  if (error === 'EHOSTUNREACH') return 'no route to the host';
  if (localErrors.has(error)) return `this machine has no route to the address (${error})`;
  return error;
}

function explanationOf({ error }: ConnectAttempt): string {
  if (error === 'ECONNREFUSED')
    return 'No process listens on the address and port of the source, or a firewall rejects the connection.';
  if (error === 'ETIMEDOUT') return 'A firewall drops the packets, or the machine of the source is down.';
  return 'There is no route to the machine of the source.';
}

/** The fix of a failed connection. `setting` is the setting of the server for the addresses that it listens on. */
export function buildOpenPortFix(isRefused: boolean, port: number, setting = "listen_addresses = '*'"): FindingFix {
  return {
    text: isRefused
      ? `Check that the server runs and listens on more than localhost (${setting}, port ${port}), and that no firewall rejects port ${port}.`
      : `Open port ${port}: firewall, security group or the list of trusted sources. Restore the rules after the migration.`,
  };
}

function unique(text: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(text) === at;
}
