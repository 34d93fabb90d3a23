import type { Reply } from '../../../redis/connection.ts';
import type { Ask } from '../ask.ts';
import { valueAfter } from './reply.ts';

/** Whether the user may do it, and what the server would say if not (7.0 and later). Nothing is run. */
export interface Allowed {
  readonly allowed: boolean;
  readonly words: string;
}

function dryRun(...words: readonly [string, ...string[]]): Ask<Allowed> {
  return {
    id: `ACL DRYRUN user ${words.join(' ')}`,
    words: ({ user }) => ['ACL', 'DRYRUN', user, ...words],
    decode: (reply) => ({ allowed: reply === 'OK', words: String(reply) }),
    permission: '+acl|dryrun',
  };
}

/** What a replica sends. */
export const mayPsync = dryRun('PSYNC', '?', '-1');
export const maySync = dryRun('SYNC');
export const mayReplconf = dryRun('REPLCONF', 'listening-port', '6379');
/** What a scan sends, for a key of any name. */
export const mayScan = dryRun('SCAN', '0');
export const mayDump = dryRun('DUMP', 'cloudctl:any:key');
export const mayPttl = dryRun('PTTL', 'cloudctl:any:key');
export const mayType = dryRun('TYPE', 'cloudctl:any:key');

/** The rules of the user in the order they were given (6.0 and later). */
export const userRules: Ask<readonly string[]> = {
  id: 'ACL GETUSER user',
  words: ({ user }) => ['ACL', 'GETUSER', user],
  decode: (reply) => rulesOf(reply),
  permission: '+acl|getuser',
};

function rulesOf(reply: Reply): readonly string[] {
  const rules = valueAfter(reply, 'commands');
  if (typeof rules !== 'string') throw new Error('the user has no rules that can be read');
  return rules.split(' ');
}
