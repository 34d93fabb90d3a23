import type { RedisQuery } from '../query.ts';
import { replyList } from './reply.ts';

/** Those a replica sends, those that are asked here, and those a scan takes the keys with. */
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

/** The commands the server knows by these names: one that was renamed or removed answers with nothing. */
export const knownCommandsQuery: RedisQuery<ReadonlySet<string>> = {
  id: `COMMAND INFO ${commandNames.join(' ')}`,
  command: () => ['COMMAND', 'INFO', ...commandNames],
  decode: (reply) => {
    const list = replyList(reply);
    return new Set(commandNames.filter((_, at) => Array.isArray(list[at])));
  },
  permission: '+command|info',
};
