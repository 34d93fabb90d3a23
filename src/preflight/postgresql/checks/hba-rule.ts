import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, type Fix, fail, pass, warn } from '../../finding.ts';
import { managedServiceOf } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { addressShares } from '../hba-address-shares.ts';
import {
  firstMatchingRule,
  type HbaClient,
  hasHostName,
  prefixLengthOf,
  rulesForOtherAddresses,
} from '../hba-match.ts';
import { clientAddressQuery } from '../queries/client-address.ts';
import { type HbaRule, hbaRulesQuery } from '../queries/hba-rules.ts';
import { migrationRoleQuery } from '../queries/migration-role.ts';
import { type ServerSettings, settingOf, settingsQuery } from '../queries/settings.ts';
import { type PostgresqlSourceFacts, serverVersionOf } from '../source-facts.ts';
import { countText } from '../units.ts';

export const hbaRuleCheck = serverCheck({
  id: 'hba-rule',
  title: 'pg_hba.conf allows the role to connect to every database from any address',
  headline: 'pg_hba.conf does not allow the role to connect to every database from any address',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: {
    hostRules: hbaRulesQuery,
    clientAddress: clientAddressQuery,
    role: migrationRoleQuery,
    settings: settingsQuery,
  },
  evaluate({ hostRules, clientAddress, role, settings }, facts, options) {
    if (serverVersionOf(facts) < 100_000) {
      return warn('not told by this version', {
        detail: 'Before version 10 the server does not show its host rules: see that pg_hba.conf has the line.',
        fix: openLine(facts, settings),
      });
    }
    // A rule that is told together with an error was read and is in force for nobody, as hostssl without ssl; the file loads.
    const broken = hostRules.filter(({ error, type }) => error !== undefined && type === '');
    if (broken.length > 0) return cannotLoad(broken);
    const far: HbaClient = {
      address: undefined,
      tls: !options.disableSsl,
      user: facts.username,
      memberOf: role.memberOf,
    };
    const anywhere = judgeCaller(hostRules, far, facts);
    const fix = openLine(facts, settings);
    if (options.isOverInternet) {
      if (anywhere.kept.length === 0 && anywhere.partly.length > 0) return notFrom(anywhere, fix);
      if (anywhere.kept.length === 0) return pass(anywhere.observed, { required });
      return fail(['continuous', 'dump'], anywhere.observed, { ...refusal(anywhere, facts), fix });
    }
    const here = judgeCaller(hostRules, { ...far, address: clientAddress ?? '127.0.0.1' }, facts);
    if (here.kept.length > 0) {
      return fail(['continuous', 'dump'], here.observed, { ...refusal(here, facts), fix });
    }
    if (anywhere.kept.length === 0 && anywhere.partly.length > 0) return notFrom(anywhere, fix);
    if (anywhere.kept.length === 0) return pass(anywhere.observed, { required });
    return warn(here.observed, {
      required,
      detail: `From ${clientAddress ?? 'this machine'} every database lets the role in. From the internet: ${refusal(anywhere, facts).detail}`,
      fix,
    });
  },
});

const required = 'a rule for 0.0.0.0/0 that asks for a password, reached first';

interface Judged {
  readonly observed: string;
  readonly kept: readonly Kept[];
  /** Databases that keep out whoever comes from some of the public addresses. */
  readonly partly: readonly Kept[];
}

/** A database that keeps the caller out, and why. */
interface Kept {
  readonly database: string;
  readonly why: string;
}

function judgeCaller(
  rules: readonly HbaRule[],
  caller: HbaClient,
  { databases, access: reach }: PostgresqlSourceFacts,
): Judged {
  const lines = new Set<number>();
  const kept: Kept[] = [];
  const partly: Kept[] = [];
  for (const database of databases) {
    if (caller.address === undefined) {
      const found = fromAnywhere(rules, caller, database);
      for (const line of found.lines) lines.add(line);
      if (found.why !== undefined) (found.isOpen ? partly : kept).push({ database, why: found.why });
      continue;
    }
    const rule = firstMatchingRule(rules, caller, database);
    // What the server takes a name or samenet for is known to it alone, and we are in.
    const byName =
      rule === undefined && reach.get(database)?.kind === 'entered'
        ? rulesForOtherAddresses(rules, caller, database).find(hasHostName)
        : undefined;
    if (byName !== undefined) {
      lines.add(byName.line);
      continue;
    }
    const why = rule === undefined ? noRule(rules, caller, database) : obstacle(rule);
    if (rule !== undefined && why === undefined) lines.add(rule.line);
    if (why !== undefined) kept.push({ database, why });
  }
  const by = [...lines].map((line) => `line ${line}`).join(', ');
  const observed =
    kept.length === 0 ? `let in by ${by}` : `${kept.length} of ${countText(databases.length, 'database')} kept out`;
  return { observed, kept, partly };
}

/** Of less than one address in a hundred that is kept out nobody needs to be warned. */
const worthTelling = 0.01;

/** Nobody knows from where the service comes, so that rules for a part of the addresses count by their share. */
function fromAnywhere(
  rules: readonly HbaRule[],
  caller: HbaClient,
  database: string,
): { readonly lines: readonly number[]; readonly isOpen: boolean; readonly why: string | undefined } {
  const { byRule: parts, unmatched: left } = addressShares(rules, caller, database);
  const open = parts.filter(({ rule }) => obstacle(rule) === undefined);
  const closed = parts.filter(({ rule }) => obstacle(rule) !== undefined);
  const out = closed.reduce((sum, { share }) => sum + share, left);
  const lines = open.map(({ rule }) => rule.line);
  // Some networks by name are no rule for everybody.
  const isOpen = out < 0.75;
  if (isOpen && out < worthTelling) return { lines, isOpen, why: undefined };
  const told = closed.filter(({ share }) => share >= worthTelling).map(({ rule }) => obstacle(rule) ?? '');
  const why = isOpen
    ? `from ${Math.round(out * 100)} of 100 public addresses nobody is let in: ${[...told.slice(0, 5), ...(left >= worthTelling ? ['no rule fits the others'] : [])].join('; ')}`
    : ((left > 0.5 ? undefined : told[0]) ?? noRule(rules, caller, database));
  return { lines: isOpen ? lines : [], isOpen, why };
}

function notFrom(found: Judged, fix: Fix): CheckOutcome {
  const [first] = found.partly;
  return warn(`${found.observed}, though not from everywhere`, {
    required,
    detail: `${first?.database}: ${first?.why}. Whether the service comes from there is not known. The first line that fits alone decides.`,
    objects: found.partly.slice(0, 20).map(({ database }) => database),
    fix,
  });
}

/** The service has a password, and nothing else to show. */
function obstacle({ method, line, options }: HbaRule): string | undefined {
  if (options.some((option) => /^clientcert=(1|verify)/.test(option)))
    return `line ${line} asks for a client certificate`;
  if (passwordMethods.has(method) || method === 'trust') return undefined;
  if (method === 'reject') return `line ${line} rejects: "pg_hba.conf rejects connection"`;
  return `line ${line} asks for ${method}, which a password does not answer`;
}

const passwordMethods = new Set(['scram-sha-256', 'md5', 'password', 'ldap', 'pam', 'bsd', 'radius']);

function noRule(rules: readonly HbaRule[], caller: HbaClient, database: string): string {
  const places = rulesForOtherAddresses(rules, caller, database).slice(0, 5).map(placeOf);
  const encrypted = firstMatchingRule(rules, { ...caller, tls: !caller.tls }, database);
  const only =
    encrypted === undefined ? '' : `, except ${caller.tls ? 'without' : 'with'} TLS (line ${encrypted.line})`;
  const from = places.length === 0 ? '' : `; it may come from ${places.join(', ')}`;
  return `no rule fits: "no pg_hba.conf connection for host …"${only}${from}`;
}

function placeOf({ address, netmask, line }: HbaRule): string {
  const bits = netmask === undefined ? undefined : prefixLengthOf(netmask);
  return `${address}${bits === undefined ? '' : `/${bits}`} (line ${line})`;
}

function refusal(
  { kept }: Judged,
  { databases }: PostgresqlSourceFacts,
): Pick<CheckOutcome, 'required' | 'detail' | 'objects' | 'only'> {
  const reasons = new Map<string, string[]>();
  for (const { database, why } of kept) reasons.set(why, [...(reasons.get(why) ?? []), database]);
  const told = [...reasons].map(([why, names]) =>
    names.length === databases.length
      ? why
      : `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}: ${why}`,
  );
  return {
    required,
    detail: `${told.join('. ')}. The first line that fits alone decides.`,
    objects: kept.slice(0, 20).map(({ database }) => database),
    ...(kept.length === databases.length ? {} : { only: kept.map(({ database }) => database) }),
  };
}

function cannotLoad(broken: readonly HbaRule[]): CheckOutcome {
  return fail(['continuous', 'dump'], `${countText(broken.length, 'line')} of pg_hba.conf cannot be read`, {
    required: 'a file without errors',
    detail: `${broken.map(({ line, error }) => `Line ${line}: ${error}`).join('. ')}. A reload keeps the rules from before, whatever they were, and after a restart the server does not come up: "could not load pg_hba.conf".`,
    objects: broken.map(({ line }) => `line ${line}`),
    fix: {
      by: 'who administers the server',
      text: 'Mend the lines, then load the configuration again: SELECT pg_reload_conf().',
      reload: true,
    },
  });
}

/** Placed first, since a rule further up would decide before it. */
function openLine({ username: user, connection }: PostgresqlSourceFacts, settings: ServerSettings): Fix {
  const name = /^[a-z_][a-z0-9_]*$/.test(user) && user !== 'all' ? user : quoteIdentifier(user);
  const method = settingOf(settings, 'password_encryption') === 'md5' ? 'md5' : 'scram-sha-256';
  const line = `${connection.kind === 'entered' && connection.ssl ? 'hostssl' : 'host'} all ${name} 0.0.0.0/0 ${method}`;
  const closing =
    'Take the line away after the migration. If the service tells the addresses it comes from, name those instead of 0.0.0.0/0.';
  if (managedServiceOf(settings) !== undefined) {
    return {
      by: 'who administers the instance',
      text: `Open the firewall or the authorized networks of the instance to the service. ${closing}`,
    };
  }
  return {
    shell: [`# first line of pg_hba.conf (SHOW hba_file), before every other rule`, line],
    undoShell: [`# take this line out of pg_hba.conf again`, line],
    reload: true,
    by: 'who administers the server',
    text: `As the first rule of pg_hba.conf: ${line}. Then SELECT pg_reload_conf(); no restart. ${closing}`,
  };
}
