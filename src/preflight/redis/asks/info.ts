import type { Reply } from '../../../redis/connection.ts';
import { fieldsOf, type Info, readInfo } from '../../../redis/info.ts';
import type { Ask } from '../ask.ts';

/** The sections a server gives when none is named: server, clients, memory, persistence, stats, replication, cluster, keyspace. */
export const info: Ask<Info> = {
  id: 'INFO',
  words: () => ['INFO'],
  decode: (reply) => readInfo(textOf(reply)),
  permission: '+info',
};

/** Calls of each command since the start, by its name. */
export const commandCalls: Ask<ReadonlyMap<string, number>> = {
  id: 'INFO commandstats',
  words: () => ['INFO', 'commandstats'],
  decode: (reply) =>
    new Map(
      [...readInfo(textOf(reply))].map(([name, value]) => [
        name.replace(/^cmdstat_/, ''),
        Number(fieldsOf(value).get('calls') ?? 0),
      ]),
    ),
  permission: '+info',
};

/** Modules by INFO, which more users may ask than MODULE LIST. One line each, all under the same name. */
export const infoModules: Ask<readonly string[]> = {
  id: 'INFO modules',
  words: () => ['INFO', 'modules'],
  decode: (reply) => [...textOf(reply).matchAll(/^module:name=([^,\r\n]+)/gm)].map(([, name]) => name ?? ''),
  permission: '+info',
};

function textOf(reply: Reply): string {
  if (typeof reply !== 'string') throw new Error('INFO is no text');
  return reply;
}
