import type { RedisReply } from '../../../redis/connection.ts';
import type { RedisPreflightQuery } from '../query.ts';
import { findRedisReplyValue } from './reply.ts';

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
      if (typeof reply !== 'string') throw new Error('the reply is not text');
      return { allowed: reply === 'OK', reply };
    },
    permission: '+acl|dryrun',
  };
}

/** The commands that a replica sends. */
export const redisAclDryRunPsyncCommandQuery = dryRunQuery('PSYNC', '?', '-1');
export const redisAclDryRunSyncCommandQuery = dryRunQuery('SYNC');
export const redisAclDryRunReplconfCommandQuery = dryRunQuery('REPLCONF', 'listening-port', '6379');
/** The commands of a scan, which must be allowed in every database, for keys of any name. */
export const redisAclDryRunSelectCommandQuery = dryRunQuery('SELECT', '0');
export const redisAclDryRunScanCommandQuery = dryRunQuery('SCAN', '0');
export const redisAclDryRunDumpCommandQuery = dryRunQuery('DUMP', 'cloudctl:any:key');
export const redisAclDryRunPttlCommandQuery = dryRunQuery('PTTL', 'cloudctl:any:key');
export const redisAclDryRunTypeCommandQuery = dryRunQuery('TYPE', 'cloudctl:any:key');

/** The queries with ACL DRYRUN, by command name. */
export const redisAclDryRunQueries: Readonly<Record<string, RedisPreflightQuery<RedisAclDryRunResult>>> = {
  psync: redisAclDryRunPsyncCommandQuery,
  sync: redisAclDryRunSyncCommandQuery,
  replconf: redisAclDryRunReplconfCommandQuery,
  select: redisAclDryRunSelectCommandQuery,
  scan: redisAclDryRunScanCommandQuery,
  dump: redisAclDryRunDumpCommandQuery,
  pttl: redisAclDryRunPttlCommandQuery,
  type: redisAclDryRunTypeCommandQuery,
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
