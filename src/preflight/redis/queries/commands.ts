import type { RedisQuery } from '../query.ts';
import { replyList } from './reply.ts';

/** The commands of a replica, of these queries, and of a scan. */
const commandNames = [
  'psync',
  'sync',
  'replconf',
  'ping',
  'info',
  'config',
  'command',
  'cluster',
  'select',
  'scan',
  'dump',
  'pttl',
  'type',
] as const;

export type QueriedCommand = (typeof commandNames)[number];

/** The commands that exist under these names; one that was renamed or removed has an empty entry in the reply. */
export const knownCommandsQuery: RedisQuery<ReadonlySet<QueriedCommand>> = {
  id: `COMMAND INFO ${commandNames.join(' ')}`,
  command: () => ['COMMAND', 'INFO', ...commandNames],
  decode: (reply) => {
    const list = replyList(reply);
    return new Set(commandNames.filter((_, at) => Array.isArray(list[at])));
  },
  permission: '+command|info',
};
