import type { RedisInfo } from '../../redis/info.ts';
import type { PreflightQueryResult } from '../query.ts';
import { canRedisUserReadEveryKey, isRedisCommandAllowed } from './acl-rules.ts';
import type { RedisAclDryRunResult, RedisAclUserRules } from './queries/acl.ts';

/**
 * Whether the user may send a command, according to ACL DRYRUN (Redis 7.0 and later) or, in older versions, the ACL
 * rules of the user.
 */
export function getRedisCommandPermission(
  name: string,
  dryRun: PreflightQueryResult<RedisAclDryRunResult>,
  rules: PreflightQueryResult<RedisAclUserRules>,
): PreflightQueryResult<RedisAclDryRunResult> {
  if (dryRun.kind === 'known' || rules.kind !== 'known')
    return dryRun.kind === 'missing' ? withoutRules(rules) : dryRun;
  if (!isRedisCommandAllowed(rules.value.commands, name)) return denied(`run the '${name}' command`);
  if (keyCommands.has(name) && !canRedisUserReadEveryKey(rules.value.keys)) return denied('access every key');
  return { kind: 'known', value: { allowed: true, reply: 'OK' } };
}

export function isRedisCommandDenied(permission: PreflightQueryResult<RedisAclDryRunResult>): boolean {
  return permission.kind === 'known' && !permission.value.allowed;
}

/**
 * Whether the server is older than Redis 6.0, which introduced users; a newer server without the ACL command hides it.
 */
export function isRedisOlderThanAcl(
  info: PreflightQueryResult<RedisInfo>,
  permission: PreflightQueryResult<RedisAclDryRunResult>,
): boolean {
  if (permission.kind !== 'missing' || info.kind !== 'known') return false;
  return Number(/^\d+/.exec(info.value.get('redis_version') ?? '')?.[0] ?? 6) < 6;
}

const keyCommands: ReadonlySet<string> = new Set(['dump', 'pttl', 'type']);

function denied(action: string): PreflightQueryResult<RedisAclDryRunResult> {
  return { kind: 'known', value: { allowed: false, reply: `this user has no permissions to ${action}` } };
}

/**
 * If the server has no ACL DRYRUN and the ACL rules are unknown too, the result of the query for the rules has the
 * reason.
 */
function withoutRules(rules: PreflightQueryResult<RedisAclUserRules>): PreflightQueryResult<RedisAclDryRunResult> {
  return rules.kind === 'known' ? { kind: 'failed', reason: 'the server has no ACL DRYRUN' } : rules;
}
