import {
  failOutcome,
  type MigrationMethod,
  type PreflightCheckOutcome,
  passOutcome,
  skipOutcome,
  warnOutcome,
} from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { isDnsRecordAbsent } from './name-resolver.ts';
import type { HostNameLookupResult, SourceAddressFacts } from './network-facts.ts';
import { isLoopbackAddress, nonPublicAddressReason, nonPublicNameReason } from './public-address.ts';

/** @param methods the migration methods of the engine; a wrong source address blocks all of them */
export function evaluateSourceAddressContradictions(
  address: SourceAddressFacts,
  methods: readonly MigrationMethod[],
): PreflightCheckOutcome {
  if (address.contradictions.length === 0) return passOutcome(`${address.host}, port ${address.port}`);
  return failOutcome(methods, address.contradictions.join('; '), {
    required: 'one host, one port, one database, one user',
    detail: 'The host contains a connection string that contradicts the other options.',
    fix: { text: 'Give the connection string with --source only, or the host name alone with --host.' },
  });
}

export function evaluatePublicAddress(
  address: SourceAddressFacts,
  options: PreflightOptions,
  methods: readonly MigrationMethod[],
): PreflightCheckOutcome {
  const seen = publicDnsResult(address);
  if (address.lookup.kind === 'failed' && seen.kind === 'failed') return notResolved(address, seen, methods);
  const here = address.lookup.kind === 'found' ? address.lookup.addresses : [];
  if (!options.isOverInternet) return passOutcome(addressList(here, address.host));
  const privateName = address.kind === 'name' ? nonPublicNameReason(address.host) : undefined;
  if (privateName !== undefined) return notReachable(methods, address.host, privateName, options);
  if (seen.kind === 'failed') {
    if (isDnsRecordAbsent(seen))
      return notReachable(methods, address.host, 'the name is known on this machine and not in DNS', options);
    return evaluateAddresses(here, `${seen.reason}; these addresses come from the resolver of this machine`);
  }
  return evaluateAddresses(seen.addresses);

  function evaluateAddresses(addresses: readonly string[], note?: string): PreflightCheckOutcome {
    const reasons = addresses.map((each) => [each, nonPublicAddressReason(each)] as const);
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

export function evaluateSplitHorizon(address: SourceAddressFacts, options: PreflightOptions): PreflightCheckOutcome {
  if (address.kind === 'address') return passOutcome('the host is an IP address, not a name');
  if (!options.isOverInternet) return skipOutcome('the service is on this network and resolves the same names');
  if (address.lookup.kind === 'failed')
    return skipOutcome(`this machine cannot resolve the name: ${address.lookup.reason}`);
  const here = address.lookup.addresses;
  const seen = publicDnsResult(address);
  if (seen.kind === 'failed') {
    if (!isDnsRecordAbsent(seen)) return skipOutcome(`could not query DNS: ${seen.reason}`);
    return warnOutcome(`on this machine ${here.join(', ')}, no address in DNS`, differenceDetails(address));
  }
  // A DNS name with many addresses may resolve to different ones each time, so one address in common is enough.
  if (here.some((each) => seen.addresses.includes(each))) return passOutcome(here.join(', '));
  return warnOutcome(`here ${here.join(', ')}, in DNS ${seen.addresses.join(', ')}`, differenceDetails(address));
}

export function evaluateIpv6Only(address: SourceAddressFacts, options: PreflightOptions): PreflightCheckOutcome {
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
export function isConnectedOverLoopback(address: SourceAddressFacts): boolean {
  const used = address.connects.filter(({ error }) => error === undefined);
  return used.length > 0 && used.every((each) => isLoopbackAddress(each.address));
}

/** The IPv4 and IPv6 addresses of the host in DNS; the migration service finds the same addresses. */
function publicDnsResult({ dns4, dns6 }: SourceAddressFacts): HostNameLookupResult {
  const addresses = [dns4, dns6].flatMap((answer) => (answer.kind === 'found' ? answer.addresses : []));
  if (addresses.length > 0) return { kind: 'found', addresses: [...new Set(addresses)] };
  return isDnsRecordAbsent(dns4) ? dns6 : dns4;
}

function notResolved(
  address: SourceAddressFacts,
  seen: HostNameLookupResult & { kind: 'failed' },
  methods: readonly MigrationMethod[],
): PreflightCheckOutcome {
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
): PreflightCheckOutcome {
  return failOutcome(methods, observed, {
    required: 'an address that is reachable from the public internet',
    detail: `${why}. The connection of the service to the source would time out.`,
    fix: {
      text: `Use the public name or address of the source, or put a tunnel with a public end in front of it.${options.target === undefined ? ' If the service is on this network, use --allow-private.' : ''}`,
    },
  });
}

function differenceDetails(address: SourceAddressFacts) {
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
