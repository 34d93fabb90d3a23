import { isIP } from 'node:net';
import { type Ipv4Range, publicIpv4Ranges } from '../network/public-address.ts';
import { firstMatchingRule, type HbaClient, prefixLengthOf } from './hba-match.ts';
import type { HbaRule } from './queries/hba-rules.ts';

/** What becomes of callers by IPv4 of whom nobody knows from where on the internet they come. */
export interface AddressShares {
  /** Rules that take some of them, in order, each with its part of all public addresses. */
  readonly byRule: readonly RuleShare[];
  /** Of the public addresses that no rule takes. */
  readonly unmatched: number;
}

export interface RuleShare {
  readonly rule: HbaRule;
  /** From 0 to 1. */
  readonly share: number;
}

/** The first rule that fits decides, address by address. Source: PostgreSQL documentation, "The pg_hba.conf File". */
export function addressShares(rules: readonly HbaRule[], caller: HbaClient, database: string): AddressShares {
  let open: readonly Ipv4Range[] = publicIpv4Ranges;
  const parts: RuleShare[] = [];
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

/** Whatever its address is. */
function matchesExceptAddress(rule: HbaRule, caller: HbaClient, database: string): boolean {
  return firstMatchingRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined;
}

/** undefined: nobody by IPv4, or a name, of which only the server knows who that is. */
function rangeOf({ address, netmask }: HbaRule): Ipv4Range | undefined {
  if (address === 'all') return [0, 2 ** 32 - 1];
  const prefix = netmask === undefined ? undefined : prefixLengthOf(netmask);
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
