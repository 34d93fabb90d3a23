import { parseRedisInfo, parseRedisInfoValueParts, type RedisInfo } from '../../../../redis/info.ts';
import type { RedisPreflightQuery } from '../query.ts';
import { requireRedisReplyText } from './reply.ts';

/**
 * INFO without arguments returns the default sections: server, clients, memory, persistence, stats, replication,
 * cluster, keyspace.
 */
export const redisInfoQuery: RedisPreflightQuery<RedisInfo> = {
  id: 'INFO',
  command: () => ['INFO'],
  decode: (reply) => parseRedisInfo(requireRedisReplyText(reply)),
  permission: '+info',
};

/** Number of calls of each command since the server started, by command name. */
export const redisCommandCallsQuery: RedisPreflightQuery<ReadonlyMap<string, number>> = {
  id: 'INFO commandstats',
  command: () => ['INFO', 'commandstats'],
  decode: (reply) =>
    new Map(
      [...parseRedisInfo(requireRedisReplyText(reply))].map(([name, value]) => [
        name.replace(/^cmdstat_/, ''),
        Number(parseRedisInfoValueParts(value).get('calls') ?? 0),
      ]),
    ),
  permission: '+info',
};

/**
 * Names of the loaded modules from INFO, because more users may run INFO than MODULE LIST. INFO has one line for each
 * module, all with the same field name.
 */
export const redisInfoModulesQuery: RedisPreflightQuery<readonly string[]> = {
  id: 'INFO modules',
  command: () => ['INFO', 'modules'],
  decode: (reply) =>
    [...requireRedisReplyText(reply).matchAll(/^module:name=([^,\r\n]+)/gm)].map(([, name]) => name ?? ''),
  permission: '+info',
};
