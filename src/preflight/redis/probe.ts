import type { Bound } from '../../redis/bounded.ts';
import { dial } from '../../redis/dial.ts';
import { enter } from '../../redis/entry.ts';
import { ConnectError, codeIn, serverWords } from '../../redis/failure.ts';
import type { RedisSource } from '../../redis/source.ts';
import { exchange } from '../../redis/wire.ts';
import type { Probe } from './ground.ts';

/** What `--probe` does, for its help and for the report. */
export const probeText =
  'A probe asks for a full synchronization over a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and hangs up at the first answer. The source forks a child that begins a BGSAVE; nothing else changes.';

/**
 * Really asks for a full synchronization and hangs up at the first answer. It forks a BGSAVE on the source.
 * @param heard hears every command just before it is sent
 */
export async function probePsync(
  source: RedisSource,
  bound: Bound,
  heard: (words: readonly string[]) => void,
): Promise<Probe> {
  try {
    const { socket } = await dial(source, bound);
    try {
      await enter(socket, source, bound);
      // What a replica says first: it lets the source send the copy without writing a file.
      const able = ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'];
      heard(able);
      await exchange(socket, able, bound);
      const wanted = ['PSYNC', '?', '-1'];
      heard(wanted);
      const reply = await exchange(socket, wanted, bound);
      if (!reply.startsWith('-')) return { kind: 'accepted', reply: reply === '' ? 'waiting for the copy' : reply };
      const message = serverWords(reply.slice(1), source);
      return { kind: 'refused', code: codeIn(message), message };
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof ConnectError) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}
