import type { Answer } from '../ask.ts';
import type { Allowed, UserRules } from '../asks/acl.ts';
import { isGranted, readsEveryKey } from './acl-rules.ts';

/** Whether the user may send a command. ACL DRYRUN says it itself (7.0); before, the rules of the user do. */
export function rightOf(name: string, tried: Answer<Allowed>, rules: Answer<UserRules>): Answer<Allowed> {
  if (tried.kind === 'known' || rules.kind !== 'known') return tried.kind === 'missing' ? asRight(rules) : tried;
  if (!isGranted(rules.value.commands, name)) return refused(`run the '${name}' command`);
  if (takesKey.has(name) && !readsEveryKey(rules.value.keys)) return refused('access every key');
  return { kind: 'known', value: { allowed: true, words: 'OK' } };
}

export function isDenied(right: Answer<Allowed>): boolean {
  return right.kind === 'known' && !right.value.allowed;
}

/** Users came with 6.0; a newer server that hides ACL is another matter. */
export function isOlderThanUsers(server: Answer<ReadonlyMap<string, string>>, right: Answer<Allowed>): boolean {
  if (right.kind !== 'missing' || server.kind !== 'known') return false;
  return Number(/^\d+/.exec(server.value.get('redis_version') ?? '')?.[0] ?? 6) < 6;
}

const takesKey: ReadonlySet<string> = new Set(['dump', 'pttl', 'type']);

function refused(what: string): Answer<Allowed> {
  return { kind: 'known', value: { allowed: false, words: `this user has no permissions to ${what}` } };
}

/** Without rules the answer to the question about rules is what there is to tell. */
function asRight(rules: Answer<UserRules>): Answer<Allowed> {
  return rules.kind === 'known' ? { kind: 'failed', reason: 'ACL DRYRUN is not there', broke: false } : rules;
}
