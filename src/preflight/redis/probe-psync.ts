import { ConnectError } from '../../platform/connect-error.ts';
import { authenticate } from '../../redis/authenticate.ts';
import { errorCodeOf, redactServerMessage } from '../../redis/command-error.ts';
import { openRedisSocket } from '../../redis/redis-socket.ts';
import { exchangeLine } from '../../redis/resp.ts';
import type { RedisConnectOptions } from '../../redis/send-command.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { PsyncProbeResult } from './source-facts.ts';

/** What `--probe` does, for its help and for the report. */
export const psyncProbeDescription =
  'A probe requests a full synchronization on a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and disconnects at the first reply. The source forks a child that begins a BGSAVE; nothing else changes.';

/** Requests a full synchronization and disconnects at the first reply. The source forks a BGSAVE. */
export async function probePsync(source: RedisSource, options: RedisConnectOptions): Promise<PsyncProbeResult> {
  try {
    const { socket } = await openRedisSocket(source, options);
    try {
      await authenticate(socket, source, options);
      // The first command of a replica: it allows the source to send the copy without a file.
      await exchangeLine(socket, ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'], options);
      const reply = await exchangeLine(socket, ['PSYNC', '?', '-1'], options);
      if (!reply.startsWith('-')) return { kind: 'accepted', reply: reply === '' ? 'the copy was started' : reply };
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
