import type { RedisReply } from '../../../redis/connection.ts';
import type { RedisQuery } from '../query.ts';
import { replyValueOf } from './reply.ts';

/** Whether the user may do it, and what the server would say if not (7.0 and later). Nothing is run. */
export interface AclDryRunResult {
  readonly allowed: boolean;
  readonly reply: string;
}

function dryRunQuery(...words: readonly [string, ...string[]]): RedisQuery<AclDryRunResult> {
  return {
    id: `ACL DRYRUN user ${words.join(' ')}`,
    command: ({ user }) => ['ACL', 'DRYRUN', user, ...words],
    decode(reply) {
      if (typeof reply !== 'string') throw new Error('the answer is no text');
      return { allowed: reply === 'OK', reply: reply };
    },
    permission: '+acl|dryrun',
  };
}

/** What a replica sends. */
export const psyncDryRunQuery = dryRunQuery('PSYNC', '?', '-1');
export const syncDryRunQuery = dryRunQuery('SYNC');
export const replconfDryRunQuery = dryRunQuery('REPLCONF', 'listening-port', '6379');
/** What a scan sends, in every database, for a key of any name. */
export const selectDryRunQuery = dryRunQuery('SELECT', '0');
export const scanDryRunQuery = dryRunQuery('SCAN', '0');
export const dumpDryRunQuery = dryRunQuery('DUMP', 'cloudctl:any:key');
export const pttlDryRunQuery = dryRunQuery('PTTL', 'cloudctl:any:key');
export const typeDryRunQuery = dryRunQuery('TYPE', 'cloudctl:any:key');

export interface AclUserRules {
  /** In the order they were given. */
  readonly commands: readonly string[];
  /** As ACL SETUSER takes them: `~app:*`; undefined: not told. */
  readonly keys: readonly string[] | undefined;
}

/** What was given to the user (6.0 and later). */
export const aclUserRulesQuery: RedisQuery<AclUserRules> = {
  id: 'ACL GETUSER user',
  command: ({ user }) => ['ACL', 'GETUSER', user],
  decode: (reply) => rulesOf(reply),
  permission: '+acl|getuser',
};

function rulesOf(reply: RedisReply): AclUserRules {
  const rules = replyValueOf(reply, 'commands');
  if (typeof rules !== 'string') throw new Error('the user has no rules that can be read');
  return { commands: rules.split(' '), keys: keysOf(replyValueOf(reply, 'keys')) };
}

/** 7.0 tells them in a line, as they are given; 6.x in a list, without the tilde. */
function keysOf(told: RedisReply | undefined): readonly string[] | undefined {
  if (typeof told === 'string') return told.split(' ').filter((pattern) => pattern !== '');
  return Array.isArray(told) ? told.map((pattern) => `~${String(pattern)}`) : undefined;
}
