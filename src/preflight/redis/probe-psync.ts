import { ConnectError } from '../../platform/connect-error.ts';
import { authenticate } from '../../redis/authenticate.ts';
import { errorCodeOf, redactServerMessage } from '../../redis/command-error.ts';
import { openRedisSocket } from '../../redis/redis-socket.ts';
import { exchangeLine } from '../../redis/resp.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { TimeLimit } from '../../redis/time-limit.ts';
import type { PsyncProbeResult } from './source-facts.ts';

/** What `--probe` does, for its help and for the report. */
export const psyncProbeDescription =
  'A probe asks for a full synchronization over a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and hangs up at the first answer. The source forks a child that begins a BGSAVE; nothing else changes.';

/**
 * Really asks for a full synchronization and hangs up at the first answer. It forks a BGSAVE on the source.
 * @param heard hears every command just before it is sent
 */
export async function probePsync(
  source: RedisSource,
  bound: TimeLimit,
  heard: (words: readonly string[]) => void,
): Promise<PsyncProbeResult> {
  try {
    const { socket } = await openRedisSocket(source, bound);
    try {
      await authenticate(socket, source, bound);
      // What a replica says first: it lets the source send the copy without writing a file.
      const able = ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'];
      heard(able);
      await exchangeLine(socket, able, bound);
      const wanted = ['PSYNC', '?', '-1'];
      heard(wanted);
      const reply = await exchangeLine(socket, wanted, bound);
      if (!reply.startsWith('-')) return { kind: 'accepted', reply: reply === '' ? 'waiting for the copy' : reply };
      const message = redactServerMessage(reply.slice(1), source);
      return { kind: 'refused', code: errorCodeOf(message), message };
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof ConnectError) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}
