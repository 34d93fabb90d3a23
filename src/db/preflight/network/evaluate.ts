import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  type MigrationMethod,
  passOutcome,
  skipOutcome,
  warnOutcome,
} from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import {
  type AddressFacts,
  type ConnectAttempt,
  isLoopbackAddress,
  isRecordAbsent,
  type LookupResult,
  nonPublicName,
  nonPublicReason,
  type TlsFacts,
} from './addresses.ts';

/** @param methods the migration methods of the engine; a wrong source address blocks all of them */
export function evaluateContradictions(address: AddressFacts, methods: readonly MigrationMethod[]): CheckOutcome {
  if (address.contradictions.length === 0) return passOutcome(`${address.host}, port ${address.port}`);
  return failOutcome(methods, address.contradictions.join('; '), {
    required: 'one host, one port, one database, one user',
    detail: 'The host contains a connection string that contradicts the other options.',
    fix: { text: 'Give the connection string with --source only, or the host name alone with --host.' },
  });
}

export function evaluatePublicAddress(
  address: AddressFacts,
  options: PreflightOptions,
  methods: readonly MigrationMethod[],
): CheckOutcome {
  const seen = publicDnsResult(address);
  if (address.lookup.kind === 'failed' && seen.kind === 'failed') return notResolved(address, seen, methods);
  const here = address.lookup.kind === 'found' ? address.lookup.addresses : [];
  if (!options.isOverInternet) return passOutcome(addressList(here, address.host));
  const privateName = address.kind === 'name' ? nonPublicName(address.host) : undefined;
  if (privateName !== undefined) return notReachable(methods, address.host, privateName, options);
  if (seen.kind === 'failed') {
    if (isRecordAbsent(seen))
      return notReachable(methods, address.host, 'the name is known on this machine and not in DNS', options);
    return evaluateAddresses(here, `${seen.reason}; these addresses come from the resolver of this machine`);
  }
  return evaluateAddresses(seen.addresses);

  function evaluateAddresses(addresses: readonly string[], note?: string): CheckOutcome {
    const reasons = addresses.map((each) => [each, nonPublicReason(each)] as const);
    const bad = reasons.flatMap(([each, reason]) => (reason === undefined ? [] : [`${each} is ${reason}`]));
    if (bad.length === reasons.length)
      return notReachable(methods, addressList(addresses, address.host), bad.join('; '), options);
    if (bad.length > 0) {
      return warnOutcome(addressList(addresses, address.host), {
        required: 'public addresses only',
        detail: `${bad.join('; ')}. The service cannot connect to the source through such an address.`,
        fix: {
          text: `Remove the DNS records of addresses that the service cannot reach, or give the public address instead of ${address.host}.`,
        },
      });
    }
    return passOutcome(addressList(addresses, address.host), note === undefined ? {} : { detail: note });
  }
}

export function evaluateSplitHorizon(address: AddressFacts, options: PreflightOptions): CheckOutcome {
  if (address.kind === 'address') return passOutcome('the host is an IP address, not a name');
  if (!options.isOverInternet) return skipOutcome('the service is on this network and resolves the same names');
  if (address.lookup.kind === 'failed')
    return skipOutcome(`this machine cannot resolve the name: ${address.lookup.reason}`);
  const here = address.lookup.addresses;
  const seen = publicDnsResult(address);
  if (seen.kind === 'failed') {
    if (!isRecordAbsent(seen)) return skipOutcome(`could not query DNS: ${seen.reason}`);
    return warnOutcome(`on this machine ${here.join(', ')}, no address in DNS`, differenceDetails(address));
  }
  // A DNS name with many addresses may resolve to different ones each time, so one address in common is enough.
  if (here.some((each) => seen.addresses.includes(each))) return passOutcome(here.join(', '));
  return warnOutcome(`here ${here.join(', ')}, in DNS ${seen.addresses.join(', ')}`, differenceDetails(address));
}

export function evaluateIpv6Only(address: AddressFacts, options: PreflightOptions): CheckOutcome {
  const seen = publicDnsResult(address);
  const known = seen.kind === 'found' ? seen : address.lookup;
  if (known.kind === 'failed') return skipOutcome(`the host has no address: ${known.reason}`);
  const listing = known.addresses.join(', ');
  if (known.addresses.some((each) => !each.includes(':'))) return passOutcome(listing);
  if (!options.isOverInternet) return passOutcome(`${listing} (IPv6, on this network)`);
  return warnOutcome(`${listing} (IPv6 only)`, {
    required: 'an IPv4 address',
    detail: 'The service requires a host rule for IPv4 (0.0.0.0/0), so it may not use IPv6 and could then not connect.',
    fix: { text: `Give ${address.host} an A record, or use the IPv4 address of the server.` },
  });
}

/** Whether every successful connection was to a loopback address. */
export function usesLoopback(address: AddressFacts): boolean {
  const used = address.connects.filter(({ error }) => error === undefined);
  return used.length > 0 && used.every((each) => isLoopbackAddress(each.address));
}

/** The IPv4 and IPv6 addresses of the host in DNS; the migration service finds the same addresses. */
function publicDnsResult({ dns4, dns6 }: AddressFacts): LookupResult {
  const addresses = [dns4, dns6].flatMap((answer) => (answer.kind === 'found' ? answer.addresses : []));
  if (addresses.length > 0) return { kind: 'found', addresses: [...new Set(addresses)] };
  return isRecordAbsent(dns4) ? dns6 : dns4;
}

function notResolved(
  address: AddressFacts,
  seen: LookupResult & { kind: 'failed' },
  methods: readonly MigrationMethod[],
): CheckOutcome {
  const reason = address.lookup.kind === 'failed' ? address.lookup.reason : seen.reason;
  return failOutcome(methods, `${address.host}: ${reason}`, {
    headline: 'The host name has no address',
    required: 'a host name with a public address',
    detail: 'Neither this machine nor DNS has an address of the host, so no connection is possible.',
    fix: { text: 'Correct the host name, or give the address.' },
  });
}

function notReachable(
  methods: readonly MigrationMethod[],
  observed: string,
  why: string,
  options: PreflightOptions,
): CheckOutcome {
  return failOutcome(methods, observed, {
    required: 'an address that is reachable from the public internet',
    detail: `${why}. The connection of the service to the source would time out.`,
    fix: {
      text: `Use the public name or address of the source, or put a tunnel with a public end in front of it.${options.target === undefined ? ' If the service is on this network, use --allow-private.' : ''}`,
    },
  });
}

function differenceDetails(address: AddressFacts) {
  return {
    required: 'the same addresses on this machine and in public DNS',
    detail:
      'A hosts file, a VPN or an internal name server resolves the host name on this machine. This report is about the address that this machine uses, and the service uses the address in public DNS.',
    fix: {
      text: `Use a name that resolves to the same addresses everywhere, or an address, instead of ${address.host}.`,
    },
  };
}

function addressList(addresses: readonly string[], host: string): string {
  return addresses.length === 1 && addresses[0] === host ? host : `${host} is ${addresses.join(', ')}`;
}

/** Evaluates whether it is certain which server responded, from the TLS certificate. */
export function evaluateServerIdentity(
  address: AddressFacts,
  tls: TlsFacts,
  isEncrypted: boolean,
  fix: string,
): CheckOutcome {
  if (usesLoopback(address)) return passOutcome('the server is on this machine');
  if (tls.verified === true) return passOutcome('the certificate was verified');
  return warnOutcome(isEncrypted ? 'TLS, certificate not verified' : 'no TLS', {
    required: 'a verified certificate',
    detail:
      'Anyone on the network path can answer in place of the server: everything in this report may come from another server. The service does not verify the certificate either.',
    fix: { text: fix },
  });
}

/** Evaluates the TCP connections only; other checks evaluate how the server responds. */
export function evaluateConnections(address: AddressFacts, every: readonly MigrationMethod[]): CheckOutcome {
  if (address.lookup.kind === 'failed') return skipOutcome(`the host has no address: ${address.lookup.reason}`);
  const bad = address.connects.filter(({ error }) => error !== undefined);
  if (bad.length === 0)
    return passOutcome(address.connects.map((each) => `${formatAddress(each, address)} in ${each.took} ms`).join(', '));
  const observed = bad.map((each) => `${formatAddress(each, address)}: ${failureText(each)}`).join('; ');
  if (bad.length === address.connects.length) {
    return failOutcome(every, observed, {
      required: 'an accepted connection',
      detail: bad.map(explanationOf).filter(unique).join(' '),
      fix: openPortFix(bad[0]!.error === 'ECONNREFUSED', address.port),
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

function formatAddress({ address }: ConnectAttempt, { port }: AddressFacts): string {
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
export function openPortFix(isRefused: boolean, port: number, setting = "listen_addresses = '*'"): FindingFix {
  return {
    text: isRefused
      ? `Check that the server runs and listens on more than localhost (${setting}, port ${port}), and that no firewall rejects port ${port}.`
      : `Open port ${port}: firewall, security group or the list of trusted sources. Restore the rules after the migration.`,
  };
}

function unique(text: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(text) === at;
}
