import type { RedisPreflightQuery } from '../query.ts';
import { requireRedisReplyList } from './reply.ts';

/** The commands that a replica, the preflight queries and a scan send. */
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

type NeededRedisCommandName = (typeof commandNames)[number];

/**
 * The commands that exist under their original names; the reply has an empty entry for a command that was renamed or
 * removed.
 */
export const redisKnownCommandsQuery: RedisPreflightQuery<ReadonlySet<NeededRedisCommandName>> = {
  id: `COMMAND INFO ${commandNames.join(' ')}`,
  command: () => ['COMMAND', 'INFO', ...commandNames],
  decode: (reply) => {
    const list = requireRedisReplyList(reply);
    return new Set(commandNames.filter((_, at) => Array.isArray(list[at])));
  },
  permission: '+command|info',
};
