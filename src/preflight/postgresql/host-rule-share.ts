import { isIP } from 'node:net';
import { publicRanges4, type Range4 } from '../network/reach.ts';
import type { HostRule } from './asks/host-rules.ts';
import { type Caller, firstMatch, prefixOf } from './host-rule-match.ts';

/** What becomes of callers by IPv4 of whom nobody knows from where on the internet they come. */
export interface Shares {
  /** Rules that take some of them, in order, each with its part of all public addresses. */
  readonly parts: readonly Part[];
  /** Of the public addresses that no rule takes. */
  readonly left: number;
}

export interface Part {
  readonly rule: HostRule;
  /** From 0 to 1. */
  readonly share: number;
}

/** The first rule that fits decides, address by address. Source: PostgreSQL documentation, "The pg_hba.conf File". */
export function sharesOf(rules: readonly HostRule[], caller: Caller, database: string): Shares {
  let open: readonly Range4[] = publicRanges4;
  const parts: Part[] = [];
  for (const rule of rules) {
    if (open.length === 0) break;
    const range = rangeOf(rule);
    if (range === undefined || !fits(rule, caller, database)) continue;
    const taken = open.flatMap((one) => common(one, range));
    if (taken.length === 0) continue;
    parts.push({ rule, share: sizeOf(taken) / all });
    open = open.flatMap((one) => without(one, range));
  }
  return { parts, left: sizeOf(open) / all };
}

/** Whatever its address is. */
function fits(rule: HostRule, caller: Caller, database: string): boolean {
  return firstMatch([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined;
}

/** undefined: nobody by IPv4, or a name, of which only the server knows who that is. */
function rangeOf({ address, netmask }: HostRule): Range4 | undefined {
  if (address === 'all') return [0, 2 ** 32 - 1];
  const prefix = netmask === undefined ? undefined : prefixOf(netmask);
  if (isIP(address) !== 4 || prefix === undefined) return undefined;
  const size = 2 ** (32 - prefix);
  const start = Math.floor(address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) / size) * size;
  return [start, start + size - 1];
}

function common([from, to]: Range4, [start, end]: Range4): readonly Range4[] {
  const [low, high] = [Math.max(from, start), Math.min(to, end)];
  return low > high ? [] : [[low, high]];
}

function without([from, to]: Range4, [start, end]: Range4): readonly Range4[] {
  const before: readonly Range4[] = start > from ? [[from, Math.min(to, start - 1)]] : [];
  const after: readonly Range4[] = end < to ? [[Math.max(from, end + 1), to]] : [];
  return [...before, ...after];
}

function sizeOf(ranges: readonly Range4[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

const all = sizeOf(publicRanges4);
