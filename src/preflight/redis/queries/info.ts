import type { RedisReply } from '../../../redis/connection.ts';
import { parseInfo, parseInfoFields, type RedisInfo } from '../../../redis/info.ts';
import type { RedisQuery } from '../query.ts';

/** The default sections: server, clients, memory, persistence, stats, replication, cluster, keyspace. */
export const infoQuery: RedisQuery<RedisInfo> = {
  id: 'INFO',
  command: () => ['INFO'],
  decode: (reply) => parseInfo(requireText(reply)),
  permission: '+info',
};

/** Calls of each command since the start, by its name. */
export const commandCallsQuery: RedisQuery<ReadonlyMap<string, number>> = {
  id: 'INFO commandstats',
  command: () => ['INFO', 'commandstats'],
  decode: (reply) =>
    new Map(
      [...parseInfo(requireText(reply))].map(([name, value]) => [
        name.replace(/^cmdstat_/, ''),
        Number(parseInfoFields(value).get('calls') ?? 0),
      ]),
    ),
  permission: '+info',
};

/** Names of modules from INFO, which more users may send than MODULE LIST. One line each, all with the same field. */
export const infoModulesQuery: RedisQuery<readonly string[]> = {
  id: 'INFO modules',
  command: () => ['INFO', 'modules'],
  decode: (reply) => [...requireText(reply).matchAll(/^module:name=([^,\r\n]+)/gm)].map(([, name]) => name ?? ''),
  permission: '+info',
};

function requireText(reply: RedisReply): string {
  if (typeof reply !== 'string') throw new Error('the reply to INFO is not text');
  return reply;
}
