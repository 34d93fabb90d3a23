import { BlockList, isIP } from 'node:net';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeNumber, decodeOptionalText, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A line of pg_hba.conf as the server parses it; the lines of included files are part of the result. */
export interface HbaRule {
  readonly line: number;
  /** The type of the line: `local`, `host`, `hostssl`, `hostnossl`, `hostgssenc`, `hostnogssenc`. */
  readonly type: string;
  readonly databases: readonly string[];
  readonly users: readonly string[];
  /** The address field of the line: an address, `all`, `samehost`, `samenet` or a host name; empty for `local`. */
  readonly address: string;
  readonly netmask: string | undefined;
  readonly method: string;
  readonly options: readonly string[];
  /** Why the server cannot parse the line of pg_hba.conf; the other fields are then empty. */
  readonly error: string | undefined;
}

export const hbaRulesQuery: PostgresqlQuery<readonly HbaRule[]> = {
  id: 'hba-rules',
  scope: 'server',
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          line_number,
          type,
          ${version < 160_000 ? 'database' : namesOf('database', 'SELECT datname FROM pg_database')} AS databases,
          ${version < 160_000 ? 'user_name' : namesOf('user_name', 'SELECT rolname FROM pg_roles')} AS users,
          address,
          netmask,
          auth_method,
          options,
          error
        FROM pg_hba_file_rules
        ORDER BY ${version < 160_000 ? '' : 'rule_number, '}line_number
      `,
  decode: (rows) =>
    rows.map((row) => ({
      line: decodeNumber(row, 'line_number'),
      type: decodeText(row, 'type'),
      databases: decodeTextArray(row, 'databases'),
      users: decodeTextArray(row, 'users'),
      address: decodeText(row, 'address'),
      netmask: decodeOptionalText(row, 'netmask'),
      method: decodeText(row, 'auth_method'),
      options: decodeTextArray(row, 'options'),
      error: decodeOptionalText(row, 'error'),
    })),
  absent: [],
  grant: (user) => {
    const role = quoteIdentifier(user);
    return `GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO ${role}; GRANT SELECT ON pg_hba_file_rules TO ${role}`;
  },
};

/**
 * The words of a rule, with the names that match a word in place of it: since PostgreSQL 16 a word that begins with a slash is
 * a regular expression, which need not match the whole name. The server matches, because its expressions are not those of
 * JavaScript.
 */
function namesOf(words: string, names: string): string {
  return `
    ARRAY(
      SELECT w
      FROM unnest(${words}) w
      WHERE left(w, 1) <> '/'
      UNION ALL
      SELECT n
      FROM unnest(${words}) w
      JOIN (${names}) x(n) ON n::text COLLATE "C" ~ substr(w, 2)
      WHERE left(w, 1) = '/'
    )
  `;
}

/**
 * The address of this client as the server sees it, which differs behind a port forwarder; undefined for a Unix-domain
 * socket.
 */
export const clientAddressQuery: PostgresqlQuery<string | undefined> = {
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  decode: ([row = {}]) => decodeOptionalText(row, 'address'),
  absent: undefined,
};

/** The attributes of a connecting client that pg_hba.conf rules match. */
export interface HbaClient {
  /** The IP address of the client; undefined for a client anywhere on the internet that connects with IPv4. */
  readonly address: string | undefined;
  readonly tls: boolean;
  readonly user: string;
  /** Roles whose privileges the user has through GRANT, including the user itself. */
  readonly memberOf: readonly string[];
}

/**
 * The first pg_hba.conf rule that matches the client, which is the only one that applies. pg_hba.conf matches a logical
 * WAL sender by its database name; the keyword `replication` matches physical replication only. Source: PostgreSQL
 * documentation, "The pg_hba.conf File".
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

/** pg_hba.conf rules that match except for the address: the client is allowed only from other addresses. */
export function findOtherRules(rules: readonly HbaRule[], caller: HbaClient, database: string): readonly HbaRule[] {
  return rules.filter(
    (rule) =>
      rule.type !== 'local' &&
      rule.method !== 'reject' &&
      !matchesAddress(rule, caller.address) &&
      firstMatchingRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined,
  );
}

/** Whether the address is a host name, a domain or `samenet`, which only the server can resolve. */
export function isServerResolved({ address }: HbaRule): boolean {
  return isIP(address) === 0 && address !== 'all' && address !== 'samehost';
}

/** Number of bits of a netmask: `255.255.0.0` is 16, `ffff:ffff::` is 32; undefined if the text is not a netmask. */
export function prefixLength(netmask: string): number | undefined {
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
      // The rule types `local` (Unix sockets) and `hostgssenc` (GSSAPI encryption) never match, because the service
      // uses neither.
      return false;
  }
}

function matchesAddress({ address, netmask }: HbaRule, from: string | undefined): boolean {
  if (address === 'all') return true;
  const version = isIP(address);
  // The user and database are compared before the address: hundreds of databases are matched with every rule, and
  // parsing an IPv6 mask is slow.
  if (version !== 0 && version !== (from === undefined ? 4 : isIP(from))) return false;
  const prefix = netmask === undefined ? undefined : prefixLength(netmask);
  // Whether the rule matches every IPv4 address; a narrower rule may or may not contain the address of the service.
  if (from === undefined) return version === 4 && prefix === 0;
  if (version === 0 || prefix === undefined) return address === 'samehost' && isLoopbackAddress(from);
  const list = new BlockList();
  list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return list.check(from, version === 4 ? 'ipv4' : 'ipv6');
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** pg_hba_file_rules shows names that begin with @ already replaced by the content of the file. */
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
      return word === database;
  }
}

function matchesUser(word: string, { user, memberOf }: HbaClient): boolean {
  if (word === 'all' || word === user) return true;
  return word.startsWith('+') && memberOf.includes(word.slice(1));
}

function leadingOnes(parts: readonly string[]): number | undefined {
  const bits = parts.join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}
