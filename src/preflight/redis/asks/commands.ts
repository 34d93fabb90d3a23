import type { Ask } from '../ask.ts';
import { listOf } from './reply.ts';

/** Those a replica sends, those that are asked here, and those a scan takes the keys with. */
const names = [
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
export const commands: Ask<ReadonlySet<string>> = {
  id: `COMMAND INFO ${names.join(' ')}`,
  words: () => ['COMMAND', 'INFO', ...names],
  decode: (reply) => {
    const list = listOf(reply);
    return new Set(names.filter((_, at) => Array.isArray(list[at])));
  },
  permission: '+command|info',
};
