import type { RedisReply } from '../../../../redis/connection.ts';
import type { RedisPreflightQuery } from '../query.ts';
import { findRedisReplyValue, requireRedisReplyText } from './reply.ts';

/**
 * Whether the user may run a command, and otherwise the error (ACL DRYRUN, Redis 7.0 and later). ACL DRYRUN does not
 * run the command.
 */
export interface RedisAclDryRunResult {
  readonly allowed: boolean;
  readonly reply: string;
}

function dryRunQuery(...command: readonly [string, ...string[]]): RedisPreflightQuery<RedisAclDryRunResult> {
  return {
    id: `ACL DRYRUN user ${command.join(' ')}`,
    command: ({ user }) => ['ACL', 'DRYRUN', user, ...command],
    decode(reply) {
      const text = requireRedisReplyText(reply);
      return { allowed: text === 'OK', reply: text };
    },
    permission: '+acl|dryrun',
  };
}

/** The queries with ACL DRYRUN, by command name. */
export const redisAclDryRunQueries = {
  // The commands that a replica sends.
  psync: dryRunQuery('PSYNC', '?', '-1'),
  sync: dryRunQuery('SYNC'),
  replconf: dryRunQuery('REPLCONF', 'listening-port', '6379'),
  // The commands of a scan, which must be allowed in every database, for keys of any name.
  select: dryRunQuery('SELECT', '0'),
  scan: dryRunQuery('SCAN', '0'),
  dump: dryRunQuery('DUMP', 'cloudctl:any:key'),
  pttl: dryRunQuery('PTTL', 'cloudctl:any:key'),
  type: dryRunQuery('TYPE', 'cloudctl:any:key'),
};

export interface RedisAclUserRules {
  /** The ACL rules for commands, in the order in which they were set. */
  readonly commands: readonly string[];
  /**
   * The key patterns of the user, in the syntax of ACL SETUSER: `~app:*`; undefined if the server does not report them.
   */
  readonly keys: readonly string[] | undefined;
}

/** The ACL rules of the user (Redis 6.0 and later). */
export const redisAclUserRulesQuery: RedisPreflightQuery<RedisAclUserRules> = {
  id: 'ACL GETUSER user',
  command: ({ user }) => ['ACL', 'GETUSER', user],
  decode(reply) {
    const rules = findRedisReplyValue(reply, 'commands');
    if (typeof rules !== 'string') throw new Error('the rules of the user are not text');
    return { commands: rules.split(' '), keys: keyPatterns(findRedisReplyValue(reply, 'keys')) };
  },
  permission: '+acl|getuser',
};

/**
 * Redis 7.0 returns the key patterns in one line, as they were set; 6.x returns a list of patterns without the tilde.
 */
function keyPatterns(reply: RedisReply | undefined): readonly string[] | undefined {
  if (typeof reply === 'string') return reply.split(' ').filter((pattern) => pattern !== '');
  return Array.isArray(reply) ? reply.map((pattern) => `~${String(pattern)}`) : undefined;
}
