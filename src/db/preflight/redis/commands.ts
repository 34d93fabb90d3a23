import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, type MigrationMethod, skipOutcome, unknownOutcome } from '../finding.ts';
import type { QueryResult } from '../query.ts';
import { redisMethods } from './check.ts';
import { redisAdministrator } from './fixes.ts';
import type { AclRules, DryRunResult } from './queries.ts';

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

export const sentinelReason = 'the server is a Sentinel (see role-replica)';

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
