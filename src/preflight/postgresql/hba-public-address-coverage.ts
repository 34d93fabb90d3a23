import { isIP } from 'node:net';
import { type Ipv4Range, publicIpv4Ranges } from '../network/public-address.ts';
import { firstMatchingHbaRule, getNetmaskPrefixLength, type HbaClient } from './matching-hba-rule.ts';
import type { HbaRule } from './queries/hba-rules.ts';

/** The pg_hba.conf rules that apply to clients with an unknown public IPv4 address. */
export interface HbaPublicAddressCoverage {
  /** The pg_hba.conf rules that match some public addresses, in order, each with its share of all public addresses. */
  readonly byRule: readonly HbaRulePublicAddressShare[];
  /** The share of the public addresses that no pg_hba.conf rule matches. */
  readonly unmatched: number;
}

export interface HbaRulePublicAddressShare {
  readonly rule: HbaRule;
  /** A number from 0 to 1: the part of the public addresses that the rule matches. */
  readonly share: number;
}

/**
 * Finds the first matching pg_hba.conf rule for each public address. Source: PostgreSQL documentation, "The pg_hba.conf
 * File".
 */
export function computeHbaPublicAddressCoverage(
  rules: readonly HbaRule[],
  caller: HbaClient,
  database: string,
): HbaPublicAddressCoverage {
  let open: readonly Ipv4Range[] = publicIpv4Ranges;
  const parts: HbaRulePublicAddressShare[] = [];
  for (const rule of rules) {
    if (open.length === 0) break;
    const range = rangeOf(rule);
    if (range === undefined || !matchesExceptAddress(rule, caller, database)) continue;
    const taken = open.flatMap((one) => intersection(one, range));
    if (taken.length === 0) continue;
    parts.push({ rule, share: sizeOf(taken) / publicAddressCount });
    open = open.flatMap((one) => difference(one, range));
  }
  return { byRule: parts, unmatched: sizeOf(open) / publicAddressCount };
}

function matchesExceptAddress(rule: HbaRule, caller: HbaClient, database: string): boolean {
  return firstMatchingHbaRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined;
}

/**
 * The address range of a rule; undefined if the rule has no IPv4 address, or a host name that only the server can
 * resolve.
 */
function rangeOf({ address, netmask }: HbaRule): Ipv4Range | undefined {
  if (address === 'all') return [0, 2 ** 32 - 1];
  const prefix = netmask === undefined ? undefined : getNetmaskPrefixLength(netmask);
  if (isIP(address) !== 4 || prefix === undefined) return undefined;
  const size = 2 ** (32 - prefix);
  const start = Math.floor(address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) / size) * size;
  return [start, start + size - 1];
}

function intersection([from, to]: Ipv4Range, [start, end]: Ipv4Range): readonly Ipv4Range[] {
  const [low, high] = [Math.max(from, start), Math.min(to, end)];
  return low > high ? [] : [[low, high]];
}

function difference([from, to]: Ipv4Range, [start, end]: Ipv4Range): readonly Ipv4Range[] {
  const before: readonly Ipv4Range[] = start > from ? [[from, Math.min(to, start - 1)]] : [];
  const after: readonly Ipv4Range[] = end < to ? [[Math.max(from, end + 1), to]] : [];
  return [...before, ...after];
}

function sizeOf(ranges: readonly Ipv4Range[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

const publicAddressCount = sizeOf(publicIpv4Ranges);
