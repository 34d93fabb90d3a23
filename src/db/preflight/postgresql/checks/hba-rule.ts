import { BlockList, isIP } from 'node:net';
import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  instanceAdministrator,
  passOutcome,
  resultEffect,
  warnOutcome,
} from '../../finding.ts';
import { type Ipv4Range, publicRanges } from '../../network/addresses.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery } from '../queries/roles.ts';
import { getSetting, type ServerSettings, settingsQuery } from '../queries/settings.ts';
import { column, columns, type RowOf, rowQuery, rowsQuery } from '../query.ts';
import { detectManagedService } from '../settings.ts';
import { type PostgresqlFacts, sourceVersionNumber } from '../source-facts.ts';

/** A line of pg_hba.conf as the server parses it; the lines of included files are part of the result. */
export type HbaRule = RowOf<typeof hbaRulesQuery>;

export const hbaRulesQuery = rowsQuery({
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
  row: columns({
    line: column.number('line_number'),
    /** The type of the line: `local`, `host`, `hostssl`, `hostnossl`, `hostgssenc`, `hostnogssenc`. */
    type: column.text('type'),
    databases: column.texts('databases'),
    users: column.texts('users'),
    /** The address field of the line: an address, `all`, `samehost`, `samenet` or a host name; empty for `local`. */
    address: column.text('address'),
    netmask: column.optionalText('netmask'),
    method: column.text('auth_method'),
    options: column.texts('options'),
    /** Why the server cannot parse the line of pg_hba.conf; the other fields are then empty. */
    error: column.optionalText('error'),
  }),
  grant: (user) => {
    const role = quoteIdentifier(user);
    return `GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO ${role}; GRANT SELECT ON pg_hba_file_rules TO ${role}`;
  },
});

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
export const clientAddressQuery = rowQuery({
  id: 'client-address',
  scope: 'server',
  sql: () => 'SELECT host(inet_client_addr()) AS address',
  row: column.optionalText('address'),
});

/** The attributes of a connecting client that pg_hba.conf rules match. */
interface HbaClient {
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
function firstMatchingRule(rules: readonly HbaRule[], caller: HbaClient, database: string): HbaRule | undefined {
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
function findOtherRules(rules: readonly HbaRule[], caller: HbaClient, database: string): readonly HbaRule[] {
  return rules.filter(
    (rule) =>
      rule.type !== 'local' &&
      rule.method !== 'reject' &&
      !matchesAddress(rule, caller.address) &&
      firstMatchingRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined,
  );
}

/** Whether the address is a host name, a domain or `samenet`, which only the server can resolve. */
function isServerResolved({ address }: HbaRule): boolean {
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

/** The fix adds the line at the top of pg_hba.conf, because only the first matching rule applies. */
function allowRuleFix({ username: user, connection }: PostgresqlFacts, settings: ServerSettings): FindingFix {
  const name = /^[a-z_][a-z0-9_]*$/.test(user) && user !== 'all' ? user : quoteIdentifier(user);
  const method = getSetting(settings, 'password_encryption') === 'md5' ? 'md5' : 'scram-sha-256';
  const line = `${connection.kind === 'entered' && connection.ssl ? 'hostssl' : 'host'} all ${name} 0.0.0.0/0 ${method}`;
  const closing =
    'Remove the line after the migration. If the addresses of the service are known, use them instead of 0.0.0.0/0.';
  if (detectManagedService(settings) !== undefined) {
    const step = 'Allow the service in the firewall or the authorized networks of the instance.';
    return {
      notSimulated: 'the access rules of a managed service are not in pg_hba.conf',
      shell: [`# ${step}`],
      undoShell: ['# Remove the service from the firewall or the authorized networks of the instance.'],
      by: instanceAdministrator,
      text: `${step} ${closing}`,
    };
  }
  return {
    effects: [
      resultEffect(hbaRulesQuery, (rules) => [
        { ...allowRule, type: line.split(' ')[0]!, users: [user], method },
        ...rules,
      ]),
    ],
    shell: [`# first line of pg_hba.conf (SHOW hba_file), before every other rule`, line],
    undoShell: [`# remove this line from pg_hba.conf:`, line],
    reload: true,
    by: 'the server administrator',
    text: `Add this as the first rule of pg_hba.conf: ${line}. Then run SELECT pg_catalog.pg_reload_conf(); no restart is needed. ${closing}`,
  };
}

/** The rule that the fix adds to pg_hba.conf, with the columns of pg_hba_file_rules. */
const allowRule: HbaRule = {
  line: 1,
  type: 'host',
  databases: ['all'],
  users: [],
  address: '0.0.0.0',
  netmask: '0.0.0.0',
  method: '',
  options: [],
  error: undefined,
};

/** The pg_hba.conf rules that apply to clients with an unknown public IPv4 address. */
interface AddressCoverage {
  /** The pg_hba.conf rules that match some public addresses, in order, each with its share of all public addresses. */
  readonly byRule: readonly AddressShare[];
  /** The share of the public addresses that no pg_hba.conf rule matches. */
  readonly unmatched: number;
}

interface AddressShare {
  readonly rule: HbaRule;
  /** A number from 0 to 1: the part of the public addresses that the rule matches. */
  readonly share: number;
}

/**
 * Finds the first matching pg_hba.conf rule for each public address. Source: PostgreSQL documentation, "The pg_hba.conf
 * File".
 */
function computeCoverage(rules: readonly HbaRule[], caller: HbaClient, database: string): AddressCoverage {
  let open: readonly Ipv4Range[] = publicRanges;
  const parts: AddressShare[] = [];
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
  return firstMatchingRule([{ ...rule, address: 'all', netmask: undefined }], caller, database) !== undefined;
}

/**
 * The address range of a rule; undefined if the rule has no IPv4 address, or a host name that only the server can
 * resolve.
 */
function rangeOf({ address, netmask }: HbaRule): Ipv4Range | undefined {
  if (address === 'all') return [0, 2 ** 32 - 1];
  const prefix = netmask === undefined ? undefined : prefixLength(netmask);
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

const publicAddressCount = sizeOf(publicRanges);

export const hbaRuleCheck = declareServerCheck({
  id: 'hba-rule',
  title: 'pg_hba.conf allows the role to connect to every database from any address',
  headline: 'pg_hba.conf does not allow the role to connect to every database from any address',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.13',
  queries: {
    hostRules: hbaRulesQuery,
    clientAddress: clientAddressQuery,
    role: migrationRoleQuery,
    settings: settingsQuery,
  },
  evaluate({ hostRules, clientAddress, role, settings }, facts, options) {
    if (sourceVersionNumber(facts) < 100_000) {
      return warnOutcome('not reported before PostgreSQL 10', {
        headline: 'The server version does not report its pg_hba.conf rules',
        detail:
          'Before version 10 PostgreSQL does not report its pg_hba.conf rules. Make sure that pg_hba.conf contains the line that this fix shows.',
        fix: allowRuleFix(facts, settings),
      });
    }
    // A pg_hba.conf rule that has both a type and an error was parsed but matches no client, for example hostssl
    // without ssl; the server loads the file.
    const broken = hostRules.filter(({ error, type }) => error !== undefined && type === '');
    if (broken.length > 0) return invalidFile(broken);
    const far: HbaClient = {
      address: undefined,
      tls: !options.disableSsl,
      user: facts.username,
      memberOf: role.memberOf,
    };
    const anywhere = evaluateClient(hostRules, far, facts);
    const fix = allowRuleFix(facts, settings);
    if (options.isOverInternet) {
      if (anywhere.rejected.length === 0 && anywhere.partly.length > 0) return partlyRejected(anywhere, fix);
      if (anywhere.rejected.length === 0) return passOutcome(anywhere.observed, { required });
      return failOutcome(['continuous', 'dump'], anywhere.observed, { ...rejectionDetails(anywhere, facts), fix });
    }
    const here = evaluateClient(hostRules, { ...far, address: clientAddress ?? '127.0.0.1' }, facts);
    if (here.rejected.length > 0) {
      return failOutcome(['continuous', 'dump'], here.observed, { ...rejectionDetails(here, facts), fix });
    }
    if (anywhere.rejected.length === 0 && anywhere.partly.length > 0) return partlyRejected(anywhere, fix);
    if (anywhere.rejected.length === 0) return passOutcome(anywhere.observed, { required });
    return warnOutcome(here.observed, {
      required,
      detail: `The role can connect to every database from ${clientAddress ?? 'this machine'}. From the internet: ${rejectionDetails(anywhere, facts).detail}`,
      fix,
    });
  },
});

const required = 'a pg_hba.conf rule for 0.0.0.0/0 with password authentication as the first match';

interface ClientEvaluation {
  readonly observed: string;
  readonly rejected: readonly RejectedDatabase[];
  /** Databases to which pg_hba.conf rejects the role from some of the public addresses. */
  readonly partly: readonly RejectedDatabase[];
}

/** A database to which pg_hba.conf rejects the client, and the reason. */
interface RejectedDatabase {
  readonly database: string;
  readonly why: string;
}

function evaluateClient(
  rules: readonly HbaRule[],
  caller: HbaClient,
  { databases, access: reach }: PostgresqlFacts,
): ClientEvaluation {
  const lines = new Set<number>();
  const rejected: RejectedDatabase[] = [];
  const partly: RejectedDatabase[] = [];
  for (const database of databases) {
    if (caller.address === undefined) {
      const found = fromAnywhere(rules, caller, database);
      for (const line of found.lines) lines.add(line);
      if (found.why !== undefined) (found.isOpen ? partly : rejected).push({ database, why: found.why });
      continue;
    }
    const rule = firstMatchingRule(rules, caller, database);
    // A rule with a host name or samenet is treated as a match, because only the server can resolve it and the
    // connection succeeded.
    const byHostName =
      rule === undefined && reach.get(database)?.kind === 'entered'
        ? findOtherRules(rules, caller, database).find(isServerResolved)
        : undefined;
    if (byHostName !== undefined) {
      lines.add(byHostName.line);
      continue;
    }
    const why = rule === undefined ? noRule(rules, caller, database) : obstacle(rule);
    if (rule !== undefined && why === undefined) lines.add(rule.line);
    if (why !== undefined) rejected.push({ database, why });
  }
  const by = [...lines].map((line) => `line ${line}`).join(', ');
  const observed =
    rejected.length === 0
      ? `allowed by ${by}`
      : `not allowed for ${rejected.length} of ${countOf(databases.length, 'database')}`;
  return { observed, rejected, partly };
}

/** The share of rejected public addresses below which there is no warning. */
const reportedShare = 0.01;

/**
 * The addresses of the service are not known, so a pg_hba.conf rule for some addresses counts by its share of all
 * public addresses.
 */
function fromAnywhere(
  rules: readonly HbaRule[],
  caller: HbaClient,
  database: string,
): { readonly lines: readonly number[]; readonly isOpen: boolean; readonly why: string | undefined } {
  const { byRule: parts, unmatched: left } = computeCoverage(rules, caller, database);
  const open = parts.filter(({ rule }) => obstacle(rule) === undefined);
  const closed = parts.filter(({ rule }) => obstacle(rule) !== undefined);
  const out = closed.reduce((sum, { share }) => sum + share, left);
  const lines = open.map(({ rule }) => rule.line);
  // pg_hba.conf rules for only a few networks do not count as open access.
  const isOpen = out < 0.75;
  if (isOpen && out < reportedShare) return { lines, isOpen, why: undefined };
  const reasonTexts = closed.filter(({ share }) => share >= reportedShare).map(({ rule }) => obstacle(rule) ?? '');
  const why = isOpen
    ? `${Math.round(out * 100)}% of the public addresses are rejected: ${[...reasonTexts.slice(0, 5), ...(left >= reportedShare ? ['no rule of pg_hba.conf matches the others'] : [])].join('; ')}`
    : ((left > 0.5 ? undefined : reasonTexts[0]) ?? noRule(rules, caller, database));
  return { lines: isOpen ? lines : [], isOpen, why };
}

function partlyRejected(found: ClientEvaluation, fix: FindingFix): CheckOutcome {
  const [first] = found.partly;
  return warnOutcome(`${found.observed}, but not from every address`, {
    required,
    detail: `${first?.database}: ${first?.why}. It is not known whether the service connects from a rejected address. Only the first matching rule of pg_hba.conf applies.`,
    objects: found.partly.slice(0, 20).map(({ database }) => database),
    fix,
  });
}

/** Why a password is not sufficient for a login by this pg_hba.conf rule; undefined if it is sufficient. */
function obstacle({ method, line, options }: HbaRule): string | undefined {
  if (options.some((option) => /^clientcert=(1|verify)/.test(option)))
    return `line ${line} of pg_hba.conf requires a client certificate`;
  if (passwordMethods.has(method) || method === 'trust') return undefined;
  if (method === 'reject') return `line ${line} rejects: "pg_hba.conf rejects connection"`;
  return `line ${line} requires ${method} authentication instead of a password`;
}

const passwordMethods = new Set(['scram-sha-256', 'md5', 'password', 'ldap', 'pam', 'bsd', 'radius']);

function noRule(rules: readonly HbaRule[], caller: HbaClient, database: string): string {
  const addresses = findOtherRules(rules, caller, database).slice(0, 5).map(describeAddress);
  const encrypted = firstMatchingRule(rules, { ...caller, tls: !caller.tls }, database);
  const only =
    encrypted === undefined ? '' : `, except ${caller.tls ? 'without' : 'with'} TLS (line ${encrypted.line})`;
  const from = addresses.length === 0 ? '' : `; logins are allowed from ${addresses.join(', ')}`;
  return `no rule matches: "no pg_hba.conf connection for host …"${only}${from}`;
}

function describeAddress({ address, netmask, line }: HbaRule): string {
  const bits = netmask === undefined ? undefined : prefixLength(netmask);
  return `${address}${bits === undefined ? '' : `/${bits}`} (line ${line})`;
}

function rejectionDetails(
  { rejected }: ClientEvaluation,
  { databases }: PostgresqlFacts,
): Pick<CheckOutcome, 'required' | 'detail' | 'objects' | 'only'> {
  const reasons = new Map<string, string[]>();
  for (const { database, why } of rejected) reasons.set(why, [...(reasons.get(why) ?? []), database]);
  const reasonTexts = [...reasons].map(([why, names]) =>
    names.length === databases.length
      ? why
      : `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}: ${why}`,
  );
  return {
    required,
    detail: `${reasonTexts.join('. ')}. Only the first matching rule of pg_hba.conf applies.`,
    objects: rejected.slice(0, 20).map(({ database }) => database),
    ...(rejected.length === databases.length ? {} : { only: rejected.map(({ database }) => database) }),
  };
}

function invalidFile(broken: readonly HbaRule[]): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(broken.length, 'line')} of pg_hba.conf invalid`, {
    headline: 'pg_hba.conf contains invalid lines',
    required: 'a pg_hba.conf file without errors',
    detail: `${broken.map(({ line, error }) => `Line ${line}: ${error}`).join('. ')}. A reload of the configuration keeps the previous rules, and after a shutdown the server does not start again: "could not load pg_hba.conf".`,
    objects: broken.map(({ line }) => `line ${line}`),
    fix: {
      by: 'the server administrator',
      text: 'Correct the invalid lines of pg_hba.conf, then reload the configuration: SELECT pg_catalog.pg_reload_conf().',
      reload: true,
    },
  });
}
