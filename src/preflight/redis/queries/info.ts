import type { RedisReply } from '../../../redis/connection.ts';
import { parseInfo, parseInfoFields, type RedisInfo } from '../../../redis/info.ts';
import type { RedisQuery } from '../query.ts';

/** The sections a server gives when none is named: server, clients, memory, persistence, stats, replication, cluster, keyspace. */
export const infoQuery: RedisQuery<RedisInfo> = {
  id: 'INFO',
  command: () => ['INFO'],
  decode: (reply) => parseInfo(textOf(reply)),
  permission: '+info',
};

/** Calls of each command since the start, by its name. */
export const commandCallsQuery: RedisQuery<ReadonlyMap<string, number>> = {
  id: 'INFO commandstats',
  command: () => ['INFO', 'commandstats'],
  decode: (reply) =>
    new Map(
      [...parseInfo(textOf(reply))].map(([name, value]) => [
        name.replace(/^cmdstat_/, ''),
        Number(parseInfoFields(value).get('calls') ?? 0),
      ]),
    ),
  permission: '+info',
};

/** Modules by INFO, which more users may ask than MODULE LIST. One line each, all under the same name. */
export const infoModulesQuery: RedisQuery<readonly string[]> = {
  id: 'INFO modules',
  command: () => ['INFO', 'modules'],
  decode: (reply) => [...textOf(reply).matchAll(/^module:name=([^,\r\n]+)/gm)].map(([, name]) => name ?? ''),
  permission: '+info',
};

function textOf(reply: RedisReply): string {
  if (typeof reply !== 'string') throw new Error('INFO is no text');
  return reply;
}
