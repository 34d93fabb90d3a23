import { countOf, quoteShellArg } from '../../../base/text.ts';
import { type KeyspaceEntry, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import { isServerAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type ServerCheck, withBlocks } from '../check.ts';
import { type CheckOutcome, type FindingFix, type MigrationMethod, skipOutcome, unknownOutcome } from '../finding.ts';
import { type CheckQueries, type QueryResult, valueOr } from '../query.ts';
import type { AclRules, DryRunResult } from './queries.ts';
import type { RedisSourceFacts } from './source.ts';

// biome-ignore lint/suspicious/noExplicitAny: the list of checks holds different queries; each was typed where it was written.
export type RedisCheck<Q extends CheckQueries = any> = ServerCheck<RedisSourceFacts, Q>;

/** The migration methods of Redis, best first. */
export const redisMethods: readonly MigrationMethod[] = ['continuous', 'scan'];

/** Declares a Redis check; the types of the values in `evaluate` follow from its queries. */
export function declareRedisCheck<Q extends CheckQueries>(
  check: Omit<RedisCheck<Q>, 'scope' | 'mayBlock'>,
): RedisCheck<Q> {
  return { ...withBlocks(check, redisMethods), scope: 'server' };
}

/** A server can have thousands of databases, and a finding names no more than these. */
export const namedDatabases = 50;

/** `db0: 5 keys, db3: 1 key`; of many databases the first, and the number of the others. */
export function describeKeyspace(keyspace: readonly KeyspaceEntry[]): string {
  const shown = keyspace.slice(0, namedDatabases).map(({ index, keys }) => `db${index}: ${countOf(keys, 'key')}`);
  const rest = keyspace.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${countOf(rest, 'more database')}` : ''}`;
}

/** Changes a setting of the running server and its configuration file; the undo script restores `observed`. */
export function configSetFix(name: string, value: string, observed: string, info: RedisInfo, text: string): FindingFix {
  const rewrite = configRewriteCommands(info);
  return {
    sql: [formatCommand('CONFIG', 'SET', name, value), ...rewrite],
    undo: [formatCommand('CONFIG', 'SET', name, observed), ...rewrite],
    effects: [{ kind: 'setting', name, value }],
    by: redisAdministrator,
    text:
      rewrite.length > 0
        ? text
        : `${text} The server has no configuration file, so the setting is lost when it restarts.`,
  };
}

/** Marks the commands of a fix for review, because they affect applications that use the source. */
export function markForReview({ sql = [], undo = [], ...fix }: FindingFix): FindingFix {
  return { ...fix, review: sql, undoReview: undo };
}

export const redisAdministrator = 'an administrator of the source';

/**
 * Returns CONFIG REWRITE if the server has a configuration file. Without the file CONFIG REWRITE would fail, so the
 * result is empty.
 */
function configRewriteCommands(info: RedisInfo): readonly string[] {
  return (info.get('config_file') ?? '') === '' ? [] : ['CONFIG REWRITE'];
}

/** The ACL rules to grant to a user, and the rules that the user had. */
interface AclGrant {
  readonly user: string;
  /** Names of commands: `psync`. */
  readonly names: readonly string[];
  /** Whether the user is granted access to keys of any name. */
  readonly allKeys?: boolean;
  /** Whether the user is granted access to every database (Valkey 9.1 and later); the fix then has no undo. */
  readonly allDatabases?: boolean;
  /** The key patterns that the user had before; undefined if they are not known. */
  readonly keysBefore?: readonly string[] | undefined;
  /** Whether some of the commands may have been allowed before; the fix then has no undo. */
  readonly isGuessed?: boolean;
  /** Path of the ACL file; empty if the users are in the configuration file. */
  readonly aclFile: string;
  readonly info: RedisInfo;
  readonly text: string;
}

/** The fix that grants commands and keys to a user with ACL SETUSER. */
export function aclGrantFix(request: AclGrant): FindingFix {
  const {
    user,
    names,
    allKeys = false,
    allDatabases = false,
    keysBefore,
    isGuessed = false,
    aclFile,
    info,
    text,
  } = request;
  const save = aclFile === '' ? configRewriteCommands(info) : ['ACL SAVE'];
  const setUser = (sign: string, keys: readonly string[]) =>
    formatCommand('ACL', 'SETUSER', user, ...names.map((name) => `${sign}${name}`), ...keys);
  const keysToRestore = allKeys ? keysBefore && ['resetkeys', ...keysBefore] : [];
  const canUndo = keysToRestore !== undefined && !isGuessed && !allDatabases;
  return {
    sql: [setUser('+', [...(allKeys ? ['~*'] : []), ...(allDatabases ? ['alldbs'] : [])]), ...save],
    ...(names.includes('info') || allDatabases
      ? {
          notSimulated: `what ${allDatabases ? 'the other databases contain' : 'INFO returns after the change'} is not known`,
        }
      : { effects: [{ kind: 'acl', commands: names, allKeys }] }),
    ...(canUndo ? { undo: [setUser('-', keysToRestore), ...save] } : {}),
    by: redisAdministrator,
    text: canUndo ? text : `${text} Save the present ACL rules first: ${formatCommand('ACL', 'GETUSER', user)}.`,
  };
}

/** The fix that removes rename-command lines from redis.conf, which the server reads only when it starts. */
export function removeRenameFix(names: readonly string[], info: QueryResult<RedisInfo>): FindingFix {
  const configured = valueOr(info, undefined)?.get('config_file') ?? '';
  // The path of the configuration file comes from the server, so it is checked.
  const path = /^\/[\x20-\x7e]+$/.test(configured) ? configured : '/etc/redis/redis.conf';
  const [file, before] = [quoteShellArg(path), quoteShellArg(`${path}.before-migration`)];
  return {
    shell: [
      `cp -np ${file} ${before}`,
      ...names
        .filter((name) => /^[A-Za-z]+$/.test(name))
        .map((name) => `sed -i '/^ *rename-command  *${name} /Id' ${file}`),
    ],
    undoShell: [`cp -p ${before} ${file}`],
    restart: true,
    notSimulated: 'the fix changes the configuration file on the server',
    text: `Remove the rename-command lines for ${names.join(' and ')} from redis.conf and restart the server. If a provider runs the server, ask the provider for external replication; otherwise only a scan is possible.`,
  };
}

type ScanCommand = 'select' | 'scan' | 'dump' | 'pttl' | 'type';

/**
 * The commands of a scan. SELECT is needed if keys exist outside database 0, or if it is not known which databases have
 * keys.
 */
export function scanCommands(info: QueryResult<RedisInfo>): readonly ScanCommand[] {
  const isDefaultOnly = info.kind === 'known' && parseKeyspace(info.value).every(({ index }) => index === 0);
  return [...(isDefaultOnly ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}

/**
 * A Sentinel implements the Redis protocol but no command that moves data; the check role-replica reports which server
 * to migrate.
 */
export function isSentinel(info: QueryResult<RedisInfo>): boolean {
  return info.kind === 'known' && info.value.get('redis_mode') === 'sentinel';
}

/** Whether an error says that the user may not use a database (Valkey 9.1 and later). */
export function isAboutDatabases(message: string): boolean {
  return /permissions to access database/i.test(message);
}

export const sentinelReason = 'the server is a Sentinel (see role-replica)';

/**
 * Whether a replica that sends an unknown or forbidden REPLCONF receives the error in its replication stream. Redis 7.0
 * and later close the connection instead, and the replica continues where it was.
 */
export function sendsErrorsToReplicas(info: RedisInfo | undefined): boolean {
  const version = info === undefined ? undefined : parseServerVersion(info);
  return version?.product === 'redis' && !isServerAtLeast(version, 7, 0);
}

export const errorsToReplicas =
  'Before 7.0, the source sends the error for each acknowledgement, every second, in the replication stream: the target logs `Receiving inline protocol from master, master stream corruption?`, and copies everything again, or receives no change.';

/** The outcome of a check whose query has no value: `unknown`, with a fix that describes how to get a value. */
export function outcomeWithoutValue(
  result: Exclude<QueryResult<unknown>, { kind: 'known' }>,
  { mayBlock = redisMethods }: { readonly mayBlock?: readonly MigrationMethod[] } = {},
): CheckOutcome {
  switch (result.kind) {
    case 'skipped':
      return skipOutcome(result.reason);
    case 'failed':
      return {
        ...unknownOutcome(result.reason, {
          text: isBusy(result.reason)
            ? 'Wait until the script has ended (see busy-script), then run the preflight again.'
            : 'Run the preflight again when the server responds.',
        }),
        settledBy: 'cloudctl db preflight',
      };
    case 'denied':
      return {
        ...unknownOutcome(result.reason, {
          sql: [result.grant],
          ...(result.revoke === undefined ? {} : { undo: [result.revoke] }),
          by: redisAdministrator,
          notSimulated: 'what the command returns after the change is not known',
          text: 'Allow the user to run the command (ACL SETUSER), then run the preflight again.',
        }),
        settledBy: result.grant,
      };
    case 'missing':
      return mayBlock.includes('continuous')
        ? {
            ...unknownOutcome(result.reason, {
              text: 'The server is too old for the command, or hides it. Ask the operator of the server, or run with --probe, which tests PSYNC itself.',
            }),
            settledBy: '--probe',
          }
        : unknownOutcome(result.reason, {
            text: 'The server is too old for the command, or hides it. Ask the operator of the server.',
          });
    default:
      return result satisfies never;
  }
}

/** The error code in the reply to every command while a script runs longer than busy-reply-threshold. */
export function isBusy(reason: string): boolean {
  return /(^|: )BUSY /.test(reason);
}

/** The ACL categories of the commands that a migration sends, as Redis 6 defines them. */
const categories: Readonly<Record<string, readonly string[]>> = {
  psync: ['admin', 'slow', 'dangerous'],
  sync: ['admin', 'slow', 'dangerous'],
  replconf: ['admin', 'slow', 'dangerous'],
  info: ['slow', 'dangerous'],
  select: ['keyspace', 'fast'],
  scan: ['keyspace', 'read', 'slow'],
  dump: ['keyspace', 'read', 'slow'],
  pttl: ['keyspace', 'read', 'fast'],
  type: ['keyspace', 'read', 'fast'],
};

/**
 * Whether the rules in the reply to ACL GETUSER, applied in order, allow a command
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/).
 */
export function aclAllows(rules: readonly string[], command: string): boolean {
  const ownCategories = new Set(['all', ...(categories[command] ?? [])]);
  return rules.reduce((isAllowed, rule) => {
    const [, sign, category, name] = /^([+-])(?:@(\S+)|(\S+))$/.exec(rule.toLowerCase()) ?? [];
    if (sign === undefined) {
      if (rule === 'allcommands') return true;
      return rule === 'nocommands' ? false : isAllowed;
    }
    const isConcerned = category === undefined ? name === command : ownCategories.has(category);
    return isConcerned ? sign === '+' : isAllowed;
  }, false);
}

/**
 * Whether the key patterns in the reply to ACL GETUSER match every key; a reply without patterns counts as every key.
 */
function canReadKeys(patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.some((pattern) => /^(~|%R~|%RW~)\*$/.test(pattern));
}

/**
 * Whether the user may send a command, according to ACL DRYRUN (Redis 7.0 and later) or, in older versions, the ACL
 * rules of the user.
 */
export function commandPermission(
  name: string,
  dryRun: QueryResult<DryRunResult>,
  rules: QueryResult<AclRules>,
): QueryResult<DryRunResult> {
  if (dryRun.kind === 'known' || rules.kind !== 'known')
    return dryRun.kind === 'missing' ? withoutRules(rules) : dryRun;
  if (!aclAllows(rules.value.commands, name)) return denied(`run the '${name}' command`);
  if (keyCommands.has(name) && !canReadKeys(rules.value.keys)) return denied('access every key');
  return { kind: 'known', value: { allowed: true, reply: 'OK' } };
}

export function isDenied(permission: QueryResult<DryRunResult>): boolean {
  return permission.kind === 'known' && !permission.value.allowed;
}

/**
 * Whether the server is older than Redis 6.0, which introduced users; a newer server without the ACL command hides it.
 */
export function predatesAcl(info: QueryResult<RedisInfo>, permission: QueryResult<DryRunResult>): boolean {
  if (permission.kind !== 'missing' || info.kind !== 'known') return false;
  return Number(/^\d+/.exec(info.value.get('redis_version') ?? '')?.[0] ?? 6) < 6;
}

const keyCommands: ReadonlySet<string> = new Set(['dump', 'pttl', 'type']);

function denied(action: string): QueryResult<DryRunResult> {
  return { kind: 'known', value: { allowed: false, reply: `this user has no permissions to ${action}` } };
}

/**
 * If the server has no ACL DRYRUN and the ACL rules are unknown too, the result of the query for the rules has the
 * reason.
 */
function withoutRules(rules: QueryResult<AclRules>): QueryResult<DryRunResult> {
  return rules.kind === 'known' ? { kind: 'failed', reason: 'the server has no ACL DRYRUN' } : rules;
}
