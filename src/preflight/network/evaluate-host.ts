import { type CheckOutcome, fail, type MigrationMethod, pass, skip, warn } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { isRecordAbsent } from './name-resolver.ts';
import type { AddressFacts, NameLookupResult } from './network-facts.ts';
import { isLoopbackAddress, nonPublicAddressReason, nonPublicNameReason } from './public-address.ts';

/** `every`: the methods of the engine, all of which a bad address blocks. */
export function evaluateHostParse(address: AddressFacts, every: readonly MigrationMethod[]): CheckOutcome {
  if (address.contradictions.length === 0) return pass(`${address.host}, port ${address.port}`);
  return fail(every, address.contradictions.join('; '), {
    required: 'one host, one port, one database, one user',
    detail:
      'The host holds a connection string that says something else than the other options; which of the two is meant?',
    fix: { text: 'Give the connection string alone as --source, or the bare host name as --host.' },
  });
}

export function evaluatePublicAddress(
  address: AddressFacts,
  wish: PreflightOptions,
  every: readonly MigrationMethod[],
): CheckOutcome {
  const seen = publicDnsResult(address);
  if (address.lookup.kind === 'failed' && seen.kind === 'failed') return unresolved(address, seen, every);
  const here = address.lookup.kind === 'found' ? address.lookup.addresses : [];
  if (!wish.isOverInternet) return pass(listed(here, address.host));
  const nameless = address.kind === 'name' ? nonPublicNameReason(address.host) : undefined;
  if (nameless !== undefined) return closed(every, address.host, nameless, wish);
  if (seen.kind === 'failed') {
    if (isRecordAbsent(seen))
      return closed(every, address.host, 'the name is known to this machine and not to DNS', wish);
    return judgeAddresses(here, `${seen.reason}, so this is what this machine knows`);
  }
  return judgeAddresses(seen.addresses);

  function judgeAddresses(addresses: readonly string[], note?: string): CheckOutcome {
    const away = addresses.map((each) => [each, nonPublicAddressReason(each)] as const);
    const bad = away.flatMap(([each, why]) => (why === undefined ? [] : [`${each} is ${why}`]));
    if (bad.length === away.length) return closed(every, listed(addresses, address.host), bad.join('; '), wish);
    if (bad.length > 0) {
      return warn(listed(addresses, address.host), {
        required: 'public addresses only',
        detail: `${bad.join('; ')}. The service fails whenever it picks that one.`,
        fix: { text: `Remove the record from the name, or give the public address instead of ${address.host}.` },
      });
    }
    return pass(listed(addresses, address.host), note === undefined ? {} : { detail: note });
  }
}

export function evaluateSplitHorizon(address: AddressFacts, wish: PreflightOptions): CheckOutcome {
  if (address.kind === 'address') return pass('an address, not a name');
  if (!wish.isOverInternet) return skip('the service is taken to be on this network, so it sees the same names');
  if (address.lookup.kind === 'failed') return skip(`this machine cannot look the name up: ${address.lookup.reason}`);
  const here = address.lookup.addresses;
  const seen = publicDnsResult(address);
  if (seen.kind === 'failed') {
    if (!isRecordAbsent(seen)) return skip(`DNS could not be asked: ${seen.reason}`);
    return warn(`here ${here.join(', ')}, in DNS nothing`, different(address));
  }
  // A name of many servers gives another few of them each time it is asked: one in common is enough.
  if (here.some((each) => seen.addresses.includes(each))) return pass(here.join(', '));
  return warn(`here ${here.join(', ')}, in DNS ${seen.addresses.join(', ')}`, different(address));
}

export function evaluateIpv6Only(address: AddressFacts, wish: PreflightOptions): CheckOutcome {
  const seen = publicDnsResult(address);
  const known = seen.kind === 'found' ? seen : address.lookup;
  if (known.kind === 'failed') return skip(`the host has no address: ${known.reason}`);
  const listing = known.addresses.join(', ');
  if (known.addresses.some((each) => !each.includes(':'))) return pass(listing);
  if (!wish.isOverInternet) return pass(`${listing} (IPv6, on this network)`);
  return warn(`${listing} (IPv6 only)`, {
    required: 'an IPv4 address',
    detail: 'The service asks for an IPv4 host rule (0.0.0.0/0), so it may have no IPv6: it would then never connect.',
    fix: { text: `Give ${address.host} an A record, or use the IPv4 address of the server.` },
  });
}

/** No try failed to reach a server on the machine itself. */
export function isConnectedOverLoopback(address: AddressFacts): boolean {
  const used = address.connects.filter(({ error }) => error === undefined);
  return used.length > 0 && used.every((each) => isLoopbackAddress(each.address));
}

/** What DNS says of both kinds of address, which is what the service will see. */
function publicDnsResult({ dns4, dns6 }: AddressFacts): NameLookupResult {
  const addresses = [dns4, dns6].flatMap((answer) => (answer.kind === 'found' ? answer.addresses : []));
  if (addresses.length > 0) return { kind: 'found', addresses: [...new Set(addresses)] };
  return isRecordAbsent(dns4) ? dns6 : dns4;
}

function unresolved(
  address: AddressFacts,
  seen: NameLookupResult & { kind: 'failed' },
  every: readonly MigrationMethod[],
): CheckOutcome {
  const reason = address.lookup.kind === 'failed' ? address.lookup.reason : seen.reason;
  return fail(every, `${address.host}: ${reason}`, {
    required: 'a name with a public address',
    detail: 'Neither this machine nor DNS knows an address of the host, so nobody can connect to it.',
    fix: { text: 'Correct the spelling of the host, or give its address.' },
  });
}

function closed(
  every: readonly MigrationMethod[],
  observed: string,
  why: string,
  wish: PreflightOptions,
): CheckOutcome {
  return fail(every, observed, {
    required: 'an address that is reachable from the public internet',
    detail: `${why}. The service would wait for an answer until it times out.`,
    fix: {
      text: `Use the public name or address of the source, or put a tunnel with a public end in front of it.${wish.target === undefined ? ' If the service runs on this network, say --allow-private.' : ''}`,
    },
  });
}

function different(address: AddressFacts) {
  return {
    required: 'the same answer here and in public DNS',
    detail:
      'A hosts file, a VPN or an inner name server answers on this machine: what this report proves holds for that address, and the service will use the other.',
    fix: { text: `Use a name or an address that means the same everywhere, instead of ${address.host}.` },
  };
}

function listed(addresses: readonly string[], host: string): string {
  return addresses.length === 1 && addresses[0] === host ? host : `${host} is ${addresses.join(', ')}`;
}
