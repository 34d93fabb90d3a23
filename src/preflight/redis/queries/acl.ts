import type { RedisReply } from '../../../redis/connection.ts';
import type { RedisQuery } from '../query.ts';
import { replyValueOf } from './reply.ts';

/** Whether the user may run a command, and the error otherwise (ACL DRYRUN, 7.0 and later). The command is not run. */
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

/** The commands of a replica. */
export const psyncDryRunQuery = dryRunQuery('PSYNC', '?', '-1');
export const syncDryRunQuery = dryRunQuery('SYNC');
export const replconfDryRunQuery = dryRunQuery('REPLCONF', 'listening-port', '6379');
/** The commands of a scan, in every database, for a key of any name. */
export const selectDryRunQuery = dryRunQuery('SELECT', '0');
export const scanDryRunQuery = dryRunQuery('SCAN', '0');
export const dumpDryRunQuery = dryRunQuery('DUMP', 'cloudctl:any:key');
export const pttlDryRunQuery = dryRunQuery('PTTL', 'cloudctl:any:key');
export const typeDryRunQuery = dryRunQuery('TYPE', 'cloudctl:any:key');

/** The dry runs by command. */
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
  /** Rules for commands, in the order they were set. */
  readonly commands: readonly string[];
  /** Key patterns as ACL SETUSER takes them: `~app:*`; undefined: not reported. */
  readonly keys: readonly string[] | undefined;
}

/** The rules of the user (6.0 and later). */
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

/** 7.0 replies with one line, as the patterns are set; 6.x with a list, without the tilde. */
function keyPatterns(reply: RedisReply | undefined): readonly string[] | undefined {
  if (typeof reply === 'string') return reply.split(' ').filter((pattern) => pattern !== '');
  return Array.isArray(reply) ? reply.map((pattern) => `~${String(pattern)}`) : undefined;
}
