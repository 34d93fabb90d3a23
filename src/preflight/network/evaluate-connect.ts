import { type CheckOutcome, fail, type MigrationMethod, pass, skip, warn } from '../finding.ts';
import type { AddressFacts, ConnectAttempt } from './network-facts.ts';

/** What TCP alone tells. What the server said once it was reached is for others to judge. */
export function evaluateConnect(address: AddressFacts, every: readonly MigrationMethod[]): CheckOutcome {
  if (address.lookup.kind === 'failed') return skip(`the host has no address: ${address.lookup.reason}`);
  const bad = address.connects.filter(({ error }) => error !== undefined);
  if (bad.length === 0)
    return pass(address.connects.map((each) => `${place(each, address)} in ${each.took} ms`).join(', '));
  const observed = bad.map((each) => `${place(each, address)}: ${words(each)}`).join('; ');
  if (bad.length === address.connects.length) {
    return fail(every, observed, {
      required: 'a connection that is taken',
      detail: bad.map(meaning).filter(unique).join(' '),
      fix: cure(bad[0]!, address.port),
    });
  }
  // That this machine has no way to an address says nothing about the service.
  const serious = bad.filter(({ error }) => !ours.has(error ?? ''));
  if (serious.length === 0)
    return pass(`${address.connects.length - bad.length} of ${address.connects.length} addresses answer`, {
      detail: observed,
    });
  return warn(observed, {
    required: 'every address of the host answers',
    detail: 'The service may pick the address that does not answer.',
    fix: { text: `Open port ${address.port} on every address of ${address.host}, or give the address that answers.` },
  });
}

const ours = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETDOWN']);

function place({ address }: ConnectAttempt, { port }: AddressFacts): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function words({ error = '', took }: ConnectAttempt): string {
  if (error === 'ECONNREFUSED') return 'connection refused';
  if (error === 'ETIMEDOUT') return `no answer within ${Math.max(1, Math.round(took / 1000))} s`;
  if (error === 'EHOSTUNREACH') return 'no route to the host';
  if (ours.has(error)) return `this machine has no route to it (${error})`;
  return error;
}

function meaning({ error }: ConnectAttempt): string {
  if (error === 'ECONNREFUSED')
    return 'The machine answers, and nothing listens on that address and port, or a firewall rejects.';
  if (error === 'ETIMEDOUT') return 'A firewall drops the packets, or the machine is off.';
  return 'No way leads to the machine.';
}

function cure({ error }: ConnectAttempt, port: number) {
  if (error === 'ECONNREFUSED') {
    return {
      text: `Check that the server runs and listens beyond localhost (listen_addresses = '*', port ${port}), and that no firewall rejects port ${port}.`,
    };
  }
  return {
    text: `Let port ${port} through: firewall, security group or the list of trusted sources. Put the old rules back when the migration is over.`,
  };
}

function unique(text: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(text) === at;
}
