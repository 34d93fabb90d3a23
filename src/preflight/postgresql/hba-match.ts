import { BlockList, isIP } from 'node:net';
import type { HbaRule } from './queries/hba-rules.ts';

/** Who comes, as pg_hba.conf sees it. */
export interface HbaClient {
  /** undefined: from anywhere on the internet, by IPv4. */
  readonly address: string | undefined;
  readonly tls: boolean;
  readonly user: string;
  /** Roles the user is a member of by grant, itself included. */
  readonly memberOf: readonly string[];
}

/**
 * The first rule that fits, which alone decides. A logical walsender is matched by the name of its database: the keyword
 * `replication` is for physical ones. Source: PostgreSQL documentation, "The pg_hba.conf File".
 */
export function firstMatchingRule(rules: readonly HbaRule[], caller: HbaClient, database: string): HbaRule | undefined {
  return rules.find(
    (rule) =>
      rule.error === undefined &&
      matchesType(rule.type, caller.tls) &&
      matchesAddress(rule, caller.address) &&
      rule.databases.some((word) => matchesDatabase(word, database, caller)) &&
      rule.users.some((word) => matchesUser(word, caller)),
  );
}

/** Rules that would fit but for their address: they tell from where one may come. */
export function rulesForOtherAddresses(
  rules: readonly HbaRule[],
  caller: HbaClient,
  database: string,
): readonly HbaRule[] {
  return rules.filter(
    (rule) =>
      rule.type !== 'local' &&
      rule.method !== 'reject' &&
      !matchesAddress(rule, caller.address) &&
      firstMatchingRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined,
  );
}

/** By the name of a host or a domain, or the networks of the server: who that is, only the server can tell. */
export function hasHostName({ address }: HbaRule): boolean {
  return isIP(address) === 0 && address !== 'all' && address !== 'samehost';
}

/** Bits of a netmask: `255.255.0.0` is 16, `ffff:ffff::` is 32; undefined: not a mask. */
export function prefixLengthOf(netmask: string): number | undefined {
  const version = isIP(netmask);
  if (version === 4) return leadingOnes(netmask.split('.').map((part) => Number(part).toString(2).padStart(8, '0')));
  if (version !== 6) return undefined;
  const [head = '', tail] = netmask.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const middle = Array.from({ length: tail === undefined ? 0 : 8 - front.length - back.length }, () => '0');
  return leadingOnes(
    [...front, ...middle, ...back].map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')),
  );
}

function matchesType(type: string, tls: boolean): boolean {
  switch (type) {
    case 'host':
    case 'hostnogssenc':
      return true;
    case 'hostssl':
      return tls;
    case 'hostnossl':
      return !tls;
    default:
      // `local` is a socket; `hostgssenc` wants Kerberos encryption, which no service uses.
      return false;
  }
}

function matchesAddress({ address, netmask }: HbaRule, from: string | undefined): boolean {
  if (address === 'all') return true;
  const version = isIP(address);
  // Before the mask is read: of hundreds of databases each is matched with every rule, and reading an IPv6 mask is slow.
  if (version !== 0 && version !== (from === undefined ? 4 : isIP(from))) return false;
  const prefix = netmask === undefined ? undefined : prefixLengthOf(netmask);
  // The whole of IPv4; a narrower rule may or may not hold the service's address.
  if (from === undefined) return version === 4 && prefix === 0;
  if (version === 0 || prefix === undefined) return address === 'samehost' && isLoopbackAddress(from);
  const list = new BlockList();
  list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return list.check(from, version === 4 ? 'ipv4' : 'ipv6');
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** A file named with @ was read by the server already: its lines stand here one by one. */
function matchesDatabase(word: string, database: string, { user, memberOf }: HbaClient): boolean {
  switch (word) {
    case 'all':
      return true;
    case 'sameuser':
      return database === user;
    case 'samerole':
    case 'samegroup':
      return memberOf.includes(database);
    case 'replication':
      return false;
    default:
      return word === database || matchesPattern(word, database);
  }
}

function matchesUser(word: string, { user, memberOf }: HbaClient): boolean {
  if (word === 'all' || word === user) return true;
  if (word.startsWith('+')) return memberOf.includes(word.slice(1));
  return matchesPattern(word, user);
}

/** Since 16 a word that begins with a slash is a regular expression, which fits anywhere in the name unless it is anchored. */
function matchesPattern(word: string, name: string): boolean {
  if (!word.startsWith('/')) return false;
  try {
    return new RegExp(word.slice(1), 'u').test(name);
  } catch {
    // One of the few forms that only PostgreSQL knows: not taken as a way in.
    return false;
  }
}

function leadingOnes(parts: readonly string[]): number | undefined {
  const bits = parts.join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}
