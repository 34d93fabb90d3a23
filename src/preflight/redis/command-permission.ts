import { canReadEveryKey, isCommandAllowed } from './acl-rules.ts';
import type { AclDryRunResult, AclUserRules } from './queries/acl.ts';
import type { RedisQueryResult } from './query.ts';

/** Whether the user may send a command. ACL DRYRUN says it itself (7.0); before, the rules of the user do. */
export function commandPermission(
  name: string,
  tried: RedisQueryResult<AclDryRunResult>,
  rules: RedisQueryResult<AclUserRules>,
): RedisQueryResult<AclDryRunResult> {
  if (tried.kind === 'known' || rules.kind !== 'known') return tried.kind === 'missing' ? asRight(rules) : tried;
  if (!isCommandAllowed(rules.value.commands, name)) return refused(`run the '${name}' command`);
  if (takesKey.has(name) && !canReadEveryKey(rules.value.keys)) return refused('access every key');
  return { kind: 'known', value: { allowed: true, reply: 'OK' } };
}

export function isDenied(right: RedisQueryResult<AclDryRunResult>): boolean {
  return right.kind === 'known' && !right.value.allowed;
}

/** Users came with 6.0; a newer server that hides ACL is another matter. */
export function isBeforeAcl(
  server: RedisQueryResult<ReadonlyMap<string, string>>,
  right: RedisQueryResult<AclDryRunResult>,
): boolean {
  if (right.kind !== 'missing' || server.kind !== 'known') return false;
  return Number(/^\d+/.exec(server.value.get('redis_version') ?? '')?.[0] ?? 6) < 6;
}

const takesKey: ReadonlySet<string> = new Set(['dump', 'pttl', 'type']);

function refused(what: string): RedisQueryResult<AclDryRunResult> {
  return { kind: 'known', value: { allowed: false, reply: `this user has no permissions to ${what}` } };
}

/** Without rules the answer to the question about rules is what there is to tell. */
function asRight(rules: RedisQueryResult<AclUserRules>): RedisQueryResult<AclDryRunResult> {
  return rules.kind === 'known' ? { kind: 'failed', reason: 'ACL DRYRUN is not there', broke: false } : rules;
}
