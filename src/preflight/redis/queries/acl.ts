import type { RedisReply } from '../../../redis/connection.ts';
import type { RedisQuery } from '../query.ts';
import { replyValueOf } from './reply.ts';

/**
 * Whether the user may run a command, and otherwise the error (ACL DRYRUN, Redis 7.0 and later). ACL DRYRUN does not
 * run the command.
 */
export interface AclDryRunResult {
  readonly allowed: boolean;
  readonly reply: string;
}

function dryRunQuery(...command: readonly [string, ...string[]]): RedisQuery<AclDryRunResult> {
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
export const psyncDryRunQuery = dryRunQuery('PSYNC', '?', '-1');
export const syncDryRunQuery = dryRunQuery('SYNC');
export const replconfDryRunQuery = dryRunQuery('REPLCONF', 'listening-port', '6379');
/** The commands of a scan, which must be allowed in every database, for keys of any name. */
export const selectDryRunQuery = dryRunQuery('SELECT', '0');
export const scanDryRunQuery = dryRunQuery('SCAN', '0');
export const dumpDryRunQuery = dryRunQuery('DUMP', 'cloudctl:any:key');
export const pttlDryRunQuery = dryRunQuery('PTTL', 'cloudctl:any:key');
export const typeDryRunQuery = dryRunQuery('TYPE', 'cloudctl:any:key');

/** The queries with ACL DRYRUN, by command name. */
export const dryRunQueries: Readonly<Record<string, RedisQuery<AclDryRunResult>>> = {
  psync: psyncDryRunQuery,
  sync: syncDryRunQuery,
  replconf: replconfDryRunQuery,
  select: selectDryRunQuery,
  scan: scanDryRunQuery,
  dump: dumpDryRunQuery,
  pttl: pttlDryRunQuery,
  type: typeDryRunQuery,
};

export interface AclUserRules {
  /** The ACL rules for commands, in the order in which they were set. */
  readonly commands: readonly string[];
  /**
   * The key patterns of the user, in the syntax of ACL SETUSER: `~app:*`; undefined if the server does not report them.
   */
  readonly keys: readonly string[] | undefined;
}

/** The ACL rules of the user (Redis 6.0 and later). */
export const aclUserRulesQuery: RedisQuery<AclUserRules> = {
  id: 'ACL GETUSER user',
  command: ({ user }) => ['ACL', 'GETUSER', user],
  decode(reply) {
    const rules = replyValueOf(reply, 'commands');
    if (typeof rules !== 'string') throw new Error('the rules of the user are not text');
    return { commands: rules.split(' '), keys: keyPatterns(replyValueOf(reply, 'keys')) };
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
