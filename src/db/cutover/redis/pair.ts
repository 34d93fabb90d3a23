import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { formatDuration, quoteShellArg } from '../../../base/text.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { parseServerVersion } from '../../../redis/version.ts';
import { engineName, readServerInfo } from '../../engine/tools.ts';
import { readRunKeys } from '../../watch/index.ts';
import { decodeRedisActivity } from '../activity.ts';
import { type Delivery, type Fence, type Pair, type PairOptions, RestPosition, type SequenceWork } from '../pair.ts';

const limit = 10_000;

export async function openRedisPair(
  source: RedisEndpoint,
  target: RedisEndpoint,
  { signal }: PairOptions,
): Promise<Pair> {
  const from = await connectRedis(source, { limit, signal });
  let to: RedisConnection;
  try {
    to = await connectRedis(target, { limit, signal });
  } catch (error) {
    from.end();
    throw error;
  }
  const rest = new RestPosition();
  return {
    async look() {
      const [here, sessions] = await Promise.all([readServerInfo(from), listClients(from)]);
      const activity = decodeRedisActivity(here);
      // The position is read before the target, so a target that has it has every write of this observation.
      const position = rest.after(activity, infoNumber(here, 'master_repl_offset') ?? Number.NaN);
      const there = await readServerInfo(to);
      const delivery = readDelivery(here, there, position);
      const runKeys = readRunKeys(here, Date.now());
      return { activity, changes: infoNumber(there, 'evicted_keys'), sessions, delivery, runKeys };
    },
    sequences: async () => ({ differences: [], ahead: [], statements: new Map() }) satisfies SequenceWork,
    setSequences: async () => {},
    fence: async () => fenceOf(source, await readServerInfo(from)),
    async leftovers() {
      const [here, there] = await Promise.all([readServerInfo(from), readServerInfo(to)]);
      if (there.get('role') !== 'slave') return [];
      const isOurs = there.get('master_replid') === here.get('master_replid');
      return [isOurs ? 'the target is still a replica of the source' : 'the target is a replica of another server'];
    },
    slots: 0,
    changes: async () => undefined,
    async close() {
      from.end();
      to.end();
    },
  };
}

/** A replica whose link is up, with the replication id of the source, has everything up to its offset. */
function readDelivery(here: RedisInfo, there: RedisInfo, position: number): Delivery {
  if (there.get('role') !== 'slave')
    return {
      state: 'unseen',
      observed: `the target is not a replica of the source: its role is ${there.get('role')}`,
      isBroken: true,
    };
  if (there.get('master_link_status') !== 'up')
    return {
      state: 'behind',
      observed: 'the target is a replica, and its link to its primary is down',
      isBroken: true,
    };
  if (!there.has('master_replid') || there.get('master_replid') !== here.get('master_replid'))
    return { state: 'behind', observed: 'the target is a replica of another server than the source', isBroken: true };
  const offset = infoNumber(there, 'slave_repl_offset') ?? Number.NaN;
  if (Number.isNaN(offset) || Number.isNaN(position))
    return { state: 'unseen', observed: 'a server does not report how far it has replicated' };
  if (offset >= position)
    return { state: 'received', observed: `the target has confirmed offset ${offset} of the source` };
  return { state: 'behind', observed: `the target is ${position - offset} bytes behind` };
}

/** Clients that are not replicas, and not this program; one entry that says so if the user may not list them. */
async function listClients(session: RedisConnection): Promise<readonly string[]> {
  const [text, own] = await Promise.all([
    session.send(['CLIENT', 'LIST', 'TYPE', 'normal']).catch(refused),
    session.send(['CLIENT', 'ID']).catch(refused),
  ]);
  if (text === undefined) return ['clients that this user may not list (CLIENT LIST)'];
  return describeClients(String(text), String(own));
}

/**
 * The clients of a response to CLIENT LIST but the own one: those last whose last command only looks, otherwise those first that
 * sent a command last. Who has written can be found by the address, the name and the last command. The server, and each
 * client, may send any text.
 */
export function describeClients(text: string, own: string): readonly string[] {
  const clients = text.split('\n').flatMap((line) => {
    const fields = new Map(line.trim().split(' ').map(splitAt));
    const id = fields.get('id');
    // What follows the migration does not write, and must not be ended.
    if (fields.get('name') === engineName) return [];
    const looks = Number(/^(?:info|ping)$/.test(fields.get('cmd') ?? ''));
    return id === undefined || id === own ? [] : [{ id, fields, looks, idle: Number(fields.get('idle')) || 0 }];
  });
  return clients
    .sort((a, b) => a.looks - b.looks || a.idle - b.idle)
    .slice(0, mostClients)
    .map(({ id, fields, idle }) => {
      const part = (before: string, field: string): string => {
        const value = sanitizeReportLine(fields.get(field) ?? '', 80);
        return value === '' ? '' : `${before}${value}`;
      };
      const who = `client ${sanitizeReportLine(id, 20)}${part(' ', 'name')}${part(' of user ', 'user')}${part(' from ', 'addr')}`;
      return `${who} (${fields.has('cmd') ? `last command ${part('', 'cmd')}, ` : ''}idle for ${formatDuration(idle * 1000)})`;
    });
}

const mostClients = 1000;

function refused(error: unknown): undefined {
  if (!(error instanceof CommandError) || error.lost) throw error;
}

function splitAt(part: string): [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
}

/** Milliseconds for which the fence lasts if nobody removes it. */
const fenceMs = 3_600_000;

/**
 * CLIENT PAUSE … WRITE (Redis 6.2) lets clients read and lets replication go on. Before it, CLIENT PAUSE stops every client,
 * this program too, and the rule of an ACL cannot be undone exactly.
 */
function fenceOf(source: RedisEndpoint, info: RedisInfo): Fence | string {
  const { product, redis = '' } = parseServerVersion(info) ?? {};
  const [major = 0, minor = 0] = redis.split('.').map(Number);
  const canPause = (product === 'redis' || product === 'valkey') && (major > 6 || (major === 6 && minor >= 2));
  const words = [
    ...['redis-cli', '-h', source.host, '-p', String(source.port)],
    ...(source.username === undefined ? [] : ['--user', source.username]),
    ...(source.ssl === 'require' ? ['--tls'] : []),
    ...(source.ca === undefined ? [] : ['--cacert', source.ca.file]),
  ];
  const command = (...more: readonly string[]): string => [...words, ...more].map(quoteShellArg).join(' ');
  const end = `${command('CLIENT', 'KILL', 'ID')} NUMBER`;
  if (!canPause)
    return `this server cannot pause writes alone (Redis 6.2 can): stop the application, and end a client that stays with ${end}`;
  return {
    commands: [command('CLIENT', 'PAUSE', String(fenceMs), 'WRITE')],
    undo: [command('CLIENT', 'UNPAUSE')],
    limits: `it ends by itself after ${fenceMs / 60_000} minutes; a command that waits is run on the source when it ends, so end the clients first, each with ${end}`,
  };
}
