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
    decode(reply) {
      if (typeof reply !== 'string') throw new Error('the answer is no text');
      return { allowed: reply === 'OK', words: reply };
    },
    permission: '+acl|dryrun',
  };
}

/** What a replica sends. */
export const mayPsync = dryRun('PSYNC', '?', '-1');
export const maySync = dryRun('SYNC');
export const mayReplconf = dryRun('REPLCONF', 'listening-port', '6379');
/** What a scan sends, in every database, for a key of any name. */
export const maySelect = dryRun('SELECT', '0');
export const mayScan = dryRun('SCAN', '0');
export const mayDump = dryRun('DUMP', 'cloudctl:any:key');
export const mayPttl = dryRun('PTTL', 'cloudctl:any:key');
export const mayType = dryRun('TYPE', 'cloudctl:any:key');

export interface UserRules {
  /** In the order they were given. */
  readonly commands: readonly string[];
  /** As ACL SETUSER takes them: `~app:*`; undefined: not told. */
  readonly keys: readonly string[] | undefined;
}

/** What was given to the user (6.0 and later). */
export const userRules: Ask<UserRules> = {
  id: 'ACL GETUSER user',
  words: ({ user }) => ['ACL', 'GETUSER', user],
  decode: (reply) => rulesOf(reply),
  permission: '+acl|getuser',
};

function rulesOf(reply: Reply): UserRules {
  const rules = valueAfter(reply, 'commands');
  if (typeof rules !== 'string') throw new Error('the user has no rules that can be read');
  return { commands: rules.split(' '), keys: keysOf(valueAfter(reply, 'keys')) };
}

/** 7.0 tells them in a line, as they are given; 6.x in a list, without the tilde. */
function keysOf(told: Reply | undefined): readonly string[] | undefined {
  if (typeof told === 'string') return told.split(' ').filter((pattern) => pattern !== '');
  return Array.isArray(told) ? told.map((pattern) => `~${String(pattern)}`) : undefined;
}
